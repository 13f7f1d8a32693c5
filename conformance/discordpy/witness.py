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

    async def on_ready(self):
        self.begun.set()


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

    await check("Message.create_thread, Thread.send with a file, edit, delete, typing; a thread alone", talk())

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

    async def guild():
        whole = await bot.fetch_guild(GUILD)
        same(sorted(role.name for role in await whole.fetch_roles()), ["@everyone", "bots", "maintainers", "readers"])
        same(len(await whole.fetch_channels()), 3)
        same([role.name for role in (await whole.fetch_member(int(world["ids"]["people"]["maya"]))).roles][-1:], ["maintainers"])

    await check("Guild: roles, channels, a member", guild())


async def main():
    bot = Bot()
    running = asyncio.create_task(bot.start(world["token"]))
    await play(bot)
    await bot.close()
    running.cancel()


DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(world["gateway"])
asyncio.run(main())
program.stdin.close()
print(program.stdout.readline().strip(), flush=True)
