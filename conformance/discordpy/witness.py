"""Witness in another language, over the gateway in zstd: discord.py plays what a bot does, and prints one row each."""

import asyncio
import io
import json
import subprocess
import sys
import traceback

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

program = subprocess.Popen([sys.argv[1], "--discord"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
world = json.loads(program.stdout.readline())
Route.BASE = world["api"] + "/v10"
GARDEN, GUILD = int(world["ids"]["channels"]["garden"]), int(world["ids"]["guild"])


def deed(*line):
    program.stdin.write(json.dumps(line) + "\n")
    program.stdin.flush()
    return json.loads(program.stdout.readline())


async def check(operation, play):
    try:
        await asyncio.wait_for(play, 30)
        why = None
    except BaseException:
        why = traceback.format_exc()
    print(json.dumps({"operation": operation, "why": why}), flush=True)


def same(told, expected):
    assert told == expected, f"{told!r} instead of {expected!r}"


async def refused(code, deed):
    try:
        await deed
    except discord.HTTPException as error:
        return same(error.code, code)
    raise AssertionError("it was not refused")


class Bot(discord.Client):
    def __init__(self):
        intents = discord.Intents(guilds=True, guild_messages=True, message_content=True)
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), chunk_guilds_at_startup=False)
        self.begun = asyncio.Event()
        self.tree = discord.app_commands.CommandTree(self)
        self.heard = set()

    async def on_ready(self):
        self.begun.set()

    async def on_socket_event_type(self, name):
        self.heard.add(name)


async def happens(bot, event, *line, fits=None):
    """Lets somebody do something, and returns what the client makes of it."""
    coming = asyncio.create_task(bot.wait_for(event, check=fits))
    await asyncio.sleep(0)
    deed(*line)
    return await coming


async def play(bot):
    garden = None

    async def ready():
        nonlocal garden
        await bot.begun.wait()
        garden = bot.get_channel(GARDEN)
        same(sorted(channel.name for channel in bot.get_guild(GUILD).channels), ["cellar", "garden"])

    await check("Client.start: ready over zstd, with its guild and the channels it may see", ready())

    async def talk():
        heard = asyncio.create_task(bot.wait_for("message"))
        await asyncio.sleep(0)
        deed("says", "maya", str(GARDEN), "@fro-bot why?")
        message = await heard
        same((message.author.name, bot.user in message.mentions), ("maya", True))
        thread = await message.create_thread(name="Why")
        same(thread.id, message.id)
        await refused(160004, message.create_thread(name="Again"))
        async with thread.typing():
            sent = await thread.send("So", file=discord.File(fp=io.BytesIO(b"x"), filename="a.txt"))
        same(sent.attachments[0].size, 1)
        same(await sent.attachments[0].read(), b"x")
        await sent.edit(content="So it is")
        same((await thread.fetch_message(sent.id)).content, "So it is")
        await sent.delete()
        await refused(10008, thread.fetch_message(sent.id))
        alone = await garden.create_thread(name="Alone", type=discord.ChannelType.public_thread)
        assert alone.id in [thread.id for thread in await bot.get_guild(GUILD).active_threads()]
        await alone.join()
        await alone.add_user(discord.Object(int(world["ids"]["people"]["maya"])))
        await refused(10007, alone.add_user(discord.Object(1)))
        await alone.edit(name="Renamed", archived=True)
        changed = await bot.fetch_channel(alone.id)
        same((changed.name, changed.archived), ("Renamed", True))
        await alone.delete()

    await check("Message.create_thread, Thread.send with a file, edit, delete, typing; a thread alone", talk())

    async def answers():
        maya = world["ids"]["people"]["maya"]
        message = await happens(bot, "message", "says", "maya", str(GARDEN), "It drips.", fits=lambda it: it.content == "It drips.")
        loud = await message.reply("Where?", allowed_mentions=discord.AllowedMentions(replied_user=True))
        same([str(user.id) for user in loud.mentions], [maya])
        quiet = await message.reply("Where?", mention_author=False)
        same(quiet.mentions, [])
        line = ("replies", "maya", str(GARDEN), str(loud.id), "At the tap.")
        answer = await happens(bot, "message", *line, fits=lambda it: it.content == "At the tap.")
        same((bot.user in answer.mentions, answer.type.value, answer.reference.message_id), (True, 19, loud.id))
        same(answer.reference.resolved.content, "Where?")
        same(bot.get_guild(GUILD).self_role.is_bot_managed(), True)

    await check("Message.reply rings whom it answers, unless told otherwise; people's answers ring the bot", answers())

    async def limits():
        await refused(50035, garden.send("x" * 2001))
        await refused(50006, garden.send(""))
        for number in range(7):
            await garden.send(str(number))
        same([m.content async for m in garden.history(limit=3)], ["6", "5", "4"])

    await check("limits of a message; the sixth in five seconds waits for its turn", limits())

    async def resumes():
        resumed = asyncio.create_task(bot.wait_for("resumed"))
        missed = asyncio.create_task(bot.wait_for("message", check=lambda message: message.content == "meanwhile"))
        await asyncio.sleep(0)
        deed("cuts")
        deed("says", "maya", str(GARDEN), "meanwhile")
        await missed
        await resumed

    await check("a connection that was cut is taken up again, and nothing is missed", resumes())

    async def interactions():
        @bot.tree.command(name="link", description="Links")
        async def link(interaction, repo: str):
            first = await interaction.response.defer(thinking=True)
            same((first.type.value, first.is_thinking(), first.resource), (5, True, None))
            await interaction.edit_original_response(content=f"Linked {repo}")
            more = await interaction.followup.send("For you", ephemeral=True, wait=True)
            same(more.flags.ephemeral, True)
            same((await interaction.original_response()).content, f"Linked {repo}")
            await more.delete()
            await interaction.delete_original_response()
            done.set_result(interaction.user.name)

        @link.autocomplete("repo")
        async def repos(_, typed):
            done.set_result(typed)
            return [discord.app_commands.Choice(name="octo/garden", value="octo/garden")]

        @bot.tree.error
        async def failed(_, error):
            done.set_exception(error)

        await bot.tree.sync()
        same([command.name for command in await bot.tree.fetch_commands()], ["link"])
        done = asyncio.get_running_loop().create_future()
        deed("commands", "maya", str(GARDEN), "link", {"repo": "octo/garden"})
        same(await done, "maya")
        done = asyncio.get_running_loop().create_future()
        deed("types", "maya", str(GARDEN), "link", "repo", "oc")
        same(await done, "oc")

    await check("CommandTree.sync: a command is deferred, answered, followed up; autocomplete", interactions())

    async def clicks():
        view = discord.ui.View()
        view.add_item(discord.ui.Button(label="Yes", custom_id="yes"))
        view.add_item(discord.ui.Select(custom_id="which", options=[discord.SelectOption(label="A", value="a")]))
        message = await garden.send("May I?", view=view)
        button = await happens(bot, "interaction", "clicks", "rita", str(GARDEN), str(message.id), "yes")
        same((button.data["custom_id"], button.message.id, button.user.name), ("yes", message.id, "rita"))
        changed = await button.response.edit_message(content="Yes")
        same((changed.resource.id, changed.resource.content), (message.id, "Yes"))
        menu = await happens(bot, "interaction", "chooses", "rita", str(GARDEN), str(message.id), "which", "a")
        same(menu.data["values"], ["a"])
        modal = discord.ui.Modal(title="Why?", custom_id="why")
        modal.add_item(discord.ui.TextInput(label="Because", custom_id="because"))
        await menu.response.send_modal(modal)
        form = await happens(bot, "interaction", "submits", "rita", str(GARDEN), "why", "because", "I can")
        said = await form.response.send_message("Noted")
        same(said.resource.content, "Noted")

    await check("a button, a menu and a form are answered, and the client is told what came of it", clicks())

    async def changes():
        said = deed("says", "maya", str(GARDEN), "tpyo")
        edited = await happens(bot, "raw_message_edit", "edits", str(GARDEN), said, "typo")
        same(edited.message.content, "typo")
        same((await happens(bot, "raw_message_delete", "deletes", str(GARDEN), said)).message_id, int(said))
        shed = await happens(bot, "guild_channel_create", "makes channel", str(GUILD), "shed")
        same((await happens(bot, "guild_channel_update", "renames", str(shed.id), "barn"))[1].name, "barn")
        same((await happens(bot, "guild_channel_delete", "removes channel", str(shed.id))).id, shed.id)
        role = await happens(bot, "guild_role_create", "makes role", str(GUILD), "gardeners")
        same((await happens(bot, "guild_role_update", "changes role", str(GUILD), str(role.id)))[1].id, role.id)
        same((await happens(bot, "guild_role_delete", "removes role", str(GUILD), str(role.id))).id, role.id)
        said = deed("says", "maya", str(GARDEN), "a thread")
        thread = await happens(bot, "thread_create", "begins thread", "maya", str(GARDEN), said, "Theirs")
        same((thread.id, thread.parent_id, thread.owner_id), (int(said), GARDEN, int(world["ids"]["people"]["maya"])))
        same((await happens(bot, "thread_update", "archives", str(thread.id)))[1].archived, True)
        same((await happens(bot, "raw_thread_delete", "removes channel", str(thread.id))).thread_id, thread.id)

    await check("what people change is heard: messages, channels, roles, threads", changes())

    async def guild():
        whole = await bot.fetch_guild(GUILD)
        same(sorted(role.name for role in await whole.fetch_roles()), ["@everyone", "bots", "maintainers", "readers"])
        same(len(await whole.fetch_channels()), 3)
        same([role.name for role in (await whole.fetch_member(int(world["ids"]["people"]["maya"]))).roles][-1:], ["maintainers"])

    await check("Guild: roles, channels, a member", guild())

    async def expelled():
        same((await happens(bot, "guild_remove", "expels", str(GUILD))).id, GUILD)

    await check("a bot that is sent away hears it", expelled())


async def main():
    bot = Bot()
    running = asyncio.create_task(bot.start(world["token"]))
    await play(bot)
    await bot.close()
    running.cancel()
    print(json.dumps({"heard": sorted(bot.heard)}), flush=True)


DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(world["gateway"])
asyncio.run(main())
program.stdin.close()
print(program.stdout.readline().strip(), flush=True)
