// Witnesses of the little Discord: discord.js here, discord.py in its own script, which tells one row on each line.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, Events, GatewayIntentBits as Intent, REST, Routes, version } from "discord.js";
import { run, witness } from "./world.mjs";

const PYTHON = fileURLToPath(new URL("discordpy/witness.py", import.meta.url));

/** Routes that one of the clients has no call for; everything else has to serve both. */
const FOREIGN = {
  js: ["GET /api/v10/oauth2/applications/@me", "POST /api/v10/channels/{channel}/thread-members/{user}"],
  py: ["GET /api/v10/applications/@me", "GET /api/v10/gateway", "GET /api/v10/gateway/bot"],
};

export default async function testify() {
  const js = witness(`discord.js ${version}`);
  const heard = new Set();
  let known;
  const { served, unknown } = await inDiscord((world) => {
    known = world.routes;
    return play(world, js.check, heard);
  });
  await js.check("asked for nothing that is not there", () => assert.deepEqual(unknown, []));
  await js.check("was served by every route, and heard every event of the adapter's", () => everything(known, served, "js", heard));

  const py = witness(`discord.py ${process.env.DISCORD_PY_VERSION}`);
  // A clean environment, but for the mistake that the world is to make.
  const { FRO_SIM_BREAK } = process.env;
  const env = FRO_SIM_BREAK ? { FRO_SIM_BREAK } : {};
  const { code, stdout, stderr } = await run(process.env.DISCORD_PY, [PYTHON, process.env.FRO_SIM], { env });
  const lines = stdout.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  for (const { operation, why } of lines.filter((line) => line.operation)) await py.check(operation, () => assert.ok(!why, why));
  const record = lines.find((line) => line.served);
  await py.check("told to its end", () => assert.deepEqual([code, Boolean(record)], [0, true], stderr));
  if (record) {
    await py.check("asked for nothing that is not there", () => assert.deepEqual(record.unknown, []));
    const told = new Set(lines.find((line) => line.heard)?.heard);
    await py.check("was served by every route, and heard every event of the adapter's", () => everything(known, record.served, "py", told));
  }
  return [...js.rows, ...py.rows];
}

/** Fails if a route or an event that the adapter reads was nowhere to be seen. */
function everything(known, served, client, heard) {
  // The gateway and files are not in the record: their events and bytes are looked at in rows of their own.
  const wanted = known.filter((route) => route.includes(" /api/") && !FOREIGN[client].includes(route));
  assert.deepEqual(wanted.filter((route) => !served.includes(route)), []);
  const read = eventsOfTheAdapter();
  assert.ok(read.size >= 15, `the adapter reads only ${[...read]}`);
  assert.deepEqual([...read].filter((event) => !heard.has(event)), []);
}

/** The names of events in the adapter's source. */
function eventsOfTheAdapter() {
  const folder = join(process.env.REPO_ROOT, "crates/discord/src");
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".rs"));
  const source = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  return new Set(source.match(/(?<=")(READY|RESUMED|(GUILD|CHANNEL|THREAD|MESSAGE|INTERACTION)(_[A-Z]+)+)(?=")/g));
}

async function play(world, check, events) {
  const intents = [Intent.Guilds, Intent.GuildMessages, Intent.MessageContent];
  const client = new Client({ intents, rest: { api: world.api, version: "10" } });
  client.on(Events.Raw, ({ t }) => events.add(t));
  const heard = (event, fits = () => true) => new Promise((resolve) => {
    const listen = (...values) => fits(...values) && (client.off(event, listen), resolve(values.at(-1)));
    client.on(event, listen);
  });
  const { guild: guildId, channels } = world.ids;
  let garden;
  await check("Client.login: ready, with its guild and the channels it may see", async () => {
    const ready = heard(Events.ClientReady);
    await client.login(world.token);
    await within(ready);
    const names = client.guilds.cache.get(guildId).channels.cache.map(({ name }) => name);
    assert.deepEqual(names.sort(), ["cellar", "garden"]);
    garden = client.channels.cache.get(channels.garden);
  });
  let thread;
  await check("Message.startThread: the thread has the message's id; send, edit, delete, sendTyping", async () => {
    const said = heard(Events.MessageCreate);
    await world.deed("says", "maya", channels.garden, "@fro-bot why?");
    const message = await within(said);
    assert.deepEqual([message.content.endsWith(" why?"), message.mentions.has(client.user)], [true, true]);
    assert.equal(message.member.roles.cache.some(({ name }) => name === "maintainers"), true);
    thread = await message.startThread({ name: "Why", autoArchiveDuration: 1440 });
    assert.equal(thread.id, message.id);
    await assert.rejects(message.startThread({ name: "Again" }), /MessageExistingThread|160004|already/);
    await thread.sendTyping();
    const sent = await thread.send({ content: "So", files: [{ attachment: Buffer.from("x"), name: "a.txt" }] });
    assert.equal(sent.attachments.first().size, 1);
    assert.equal(await (await fetch(sent.attachments.first().url)).text(), "x");
    assert.equal((await sent.edit("So it is")).content, "So it is");
    await sent.delete();
    await assert.rejects(thread.messages.fetch({ message: sent.id, force: true }), { code: 10008 });
  });
  await check("threads.create: a thread alone is joined, and somebody is brought along", async () => {
    const alone = await garden.threads.create({ name: "Alone" });
    await alone.join();
    await alone.members.add(world.ids.people.maya);
    await assert.rejects(alone.members.add("1"), { code: 10007 });
    await alone.delete();
  });
  await check("enforceNonce: the second attempt is the first message", async () => {
    const once = { content: "Once", nonce: "77", enforceNonce: true };
    const ids = [await garden.send(once), await garden.send(once)].map(({ id }) => id);
    assert.equal(ids[0], ids[1]);
  });
  await check("without the Message Content Intent only the words that name the bot are told", async () => {
    const blind = new Client({ intents: [Intent.Guilds, Intent.GuildMessages], rest: { api: world.api, version: "10" } });
    const told = [];
    blind.on(Events.MessageCreate, ({ content }) => told.push(content.replace(/<@\d+>/, "@bot")));
    const ready = new Promise((resolve) => blind.once(Events.ClientReady, resolve));
    await blind.login(world.token);
    await within(ready);
    const both = new Promise((resolve) => blind.on(Events.MessageCreate, () => told.length === 2 && resolve()));
    await world.deed("says", "maya", channels.garden, "nothing for you");
    await world.deed("says", "maya", channels.garden, "@fro-bot for you");
    await within(both);
    await blind.destroy();
    assert.deepEqual(told, ["", "@bot for you"]);
  });
  await check("limits: 2,000 characters, an empty text, 26 options", async () => {
    await assert.rejects(garden.send("x".repeat(2001)), { code: 50035 });
    await assert.rejects(garden.send({ content: "" }), { code: 50006 });
    const options = Array.from({ length: 26 }, (_, n) => ({ label: "x", value: String(n) }));
    const menu = { type: 1, components: [{ type: 3, custom_id: "m", options }] };
    const rest = new REST({ api: world.api }).setToken(world.token);
    await assert.rejects(rest.post(Routes.channelMessages(channels.cellar), { body: { content: "?", components: [menu] } }), { code: 50035 });
    const twice = { type: 1, components: [{ type: 3, custom_id: "m", options: [options[0], options[0]] }] };
    await assert.rejects(rest.post(Routes.channelMessages(channels.cellar), { body: { content: "?", components: [twice] } }), /SELECT_COMPONENT_OPTION_VALUE_DUPLICATED/);
  });
  await check("allowedMentions: nobody is rung", async () => {
    const quiet = await client.channels.cache.get(channels.cellar).send({ content: `<@${world.ids.people.maya}>`, allowedMentions: { parse: [] } });
    assert.equal(quiet.mentions.users.size, 0);
  });
  await check("Message.reply rings whom it answers, unless told otherwise; people's answers ring the bot", async () => {
    const said = heard(Events.MessageCreate, ({ content }) => content === "It drips.");
    await world.deed("says", "maya", channels.garden, "It drips.");
    const message = await within(said);
    const loud = await message.reply({ content: "Where?" });
    assert.deepEqual([loud.mentions.repliedUser?.id, loud.mentions.has(world.ids.people.maya)], [world.ids.people.maya, true]);
    const quiet = await message.reply({ content: "Where?", allowedMentions: { parse: [], repliedUser: false } });
    assert.equal(quiet.mentions.users.size, 0);
    const asked = heard(Events.MessageCreate, ({ content }) => content === "At the tap.");
    await world.deed("replies", "maya", channels.garden, loud.id, "At the tap.");
    const answer = await within(asked);
    assert.deepEqual([answer.mentions.has(client.user), answer.reference.messageId, answer.type], [true, loud.id, 19]);
    assert.equal((await answer.fetchReference()).content, "Where?");
    assert.equal(client.guilds.cache.get(guildId).roles.cache.find(({ tags }) => tags?.botId === client.user.id)?.managed, true);
  });
  await check("application.commands.set, fetch; a command is deferred, edited and followed up", async () => {
    const option = { name: "repo", description: "Which", type: 3, required: true, autocomplete: true };
    await client.application.commands.set([{ name: "link", description: "Links", options: [option] }]);
    assert.equal((await client.application.commands.fetch()).first().name, "link");
    const asked = heard(Events.InteractionCreate);
    await world.deed("commands", "maya", channels.garden, "link", { repo: "octo/garden" });
    const command = await within(asked);
    assert.deepEqual([command.commandName, command.options.getString("repo")], ["link", "octo/garden"]);
    await command.deferReply();
    await assert.rejects(new REST({ api: world.api }).post(Routes.interactionCallback(command.id, command.token), { body: { type: 5 }, auth: false }), { code: 40060 });
    assert.equal((await command.editReply("Linked")).content, "Linked");
    const more = await command.followUp({ content: "For you", flags: 64 });
    assert.equal(more.flags.has(64), true);
    assert.equal((await command.fetchReply()).content, "Linked");
    await command.deleteReply(more);
  });
  await check("autocomplete, a button and a menu", async () => {
    const typed = heard(Events.InteractionCreate);
    await world.deed("types", "maya", channels.garden, "link", "repo", "oc");
    const typing = await within(typed);
    assert.equal(typing.options.getFocused(), "oc");
    await typing.respond([{ name: "octo/garden", value: "octo/garden" }]);
    const button = { type: 1, components: [{ type: 2, style: 1, label: "Yes", custom_id: "yes" }] };
    const message = await thread.send({ content: "May I?", components: [button] });
    const clicked = heard(Events.InteractionCreate);
    await world.deed("clicks", "rita", thread.id, message.id, "yes");
    const click = await within(clicked);
    assert.deepEqual([click.customId, click.message.id], ["yes", message.id]);
    await click.update({ content: "Yes", components: [] });
    assert.equal((await thread.messages.fetch({ message: message.id, force: true })).content, "Yes");
    const menu = { type: 1, components: [{ type: 3, custom_id: "which", options: [{ label: "A", value: "a" }] }] };
    const choice = await thread.send({ content: "Which?", components: [menu] });
    const chosen = heard(Events.InteractionCreate);
    await world.deed("chooses", "rita", thread.id, choice.id, "which", "a");
    const choosing = await within(chosen);
    assert.deepEqual(choosing.values, ["a"]);
    const field = { type: 1, components: [{ type: 4, custom_id: "because", label: "Because", style: 1 }] };
    await choosing.showModal({ title: "Why?", custom_id: "why", components: [field] });
    const sentIn = heard(Events.InteractionCreate);
    await world.deed("submits", "rita", thread.id, "why", "because", "I can");
    const form = await within(sentIn);
    assert.equal(form.fields.getTextInputValue("because"), "I can");
    const { resource } = await form.reply({ content: "Noted", withResponse: true });
    assert.equal(resource.message.content, "Noted");
  });
  await check("a connection that was cut is taken up again, and nothing is missed", async () => {
    const resumed = heard(Events.ShardResume);
    const missed = heard(Events.MessageCreate, ({ content }) => content === "meanwhile");
    await world.deed("cuts");
    await world.deed("says", "maya", channels.garden, "meanwhile");
    await Promise.all([within(resumed), within(missed)]);
  });
  await check("messages.fetch after an id; a thread is renamed twice, put away, woken and deleted", async () => {
    const after = await garden.messages.fetch({ after: thread.id, limit: 2 });
    assert.equal(after.size, 2);
    await thread.setName("One");
    await thread.setName("Two");
    await thread.setArchived(true);
    await thread.send("Awake");
    assert.equal((await client.channels.fetch(thread.id, { force: true })).archived, false);
    await thread.delete();
    await assert.rejects(client.channels.fetch(thread.id, { force: true }), { code: 10003 });
  });
  await check("an edit and a deletion by people are heard", async () => {
    const changed = heard(Events.MessageUpdate);
    const id = await world.deed("says", "maya", channels.garden, "tpyo");
    await world.deed("edits", channels.garden, id, "typo");
    assert.equal((await within(changed)).content, "typo");
    const removed = heard(Events.MessageDelete);
    await world.deed("deletes", channels.garden, id);
    assert.equal((await within(removed)).id, id);
  });
  /** Lets somebody do something, and returns what the client makes of it. */
  const happens = async (event, ...line) => {
    const coming = heard(event);
    await world.deed(...line);
    return within(coming);
  };
  await check("what people change is heard: channels, roles, threads", async () => {
    const shed = await happens(Events.ChannelCreate, "makes channel", guildId, "shed");
    assert.equal((await happens(Events.ChannelUpdate, "renames", shed.id, "barn")).name, "barn");
    assert.equal((await happens(Events.ChannelDelete, "removes channel", shed.id)).id, shed.id);
    const role = await happens(Events.GuildRoleCreate, "makes role", guildId, "gardeners");
    assert.equal(role.name, "gardeners");
    assert.equal((await happens(Events.GuildRoleUpdate, "changes role", guildId, role.id)).id, role.id);
    assert.equal((await happens(Events.GuildRoleDelete, "removes role", guildId, role.id)).id, role.id);
    const id = await world.deed("says", "maya", channels.garden, "a thread");
    // A thread's second value says whether it is new.
    const begun = new Promise((resolve) => client.once(Events.ThreadCreate, (...values) => resolve(values)));
    await world.deed("begins thread", "maya", channels.garden, id, "Theirs");
    const [theirs, isNew] = await within(begun);
    assert.deepEqual([theirs.id, theirs.parentId, theirs.ownerId, isNew], [id, channels.garden, world.ids.people.maya, true]);
    assert.equal((await happens(Events.ThreadUpdate, "archives", id)).archived, true);
    assert.equal((await happens(Events.ThreadDelete, "removes channel", id)).id, id);
  });
  await check("a channel that the bot may not see, and a wrong token", async () => {
    const rest = new REST({ api: world.api }).setToken(world.token);
    await assert.rejects(rest.get(Routes.channelMessages(channels.attic)), { code: 50001 });
    await assert.rejects(new REST({ api: world.api }).setToken("wrong").get(Routes.user()), { status: 401 });
    const member = await client.guilds.cache.get(guildId).members.fetch({ user: world.ids.people.rita, force: true });
    assert.equal(member.roles.cache.some(({ name }) => name === "readers"), true);
    await client.guilds.cache.get(guildId).channels.fetchActiveThreads();
    await rest.get(Routes.gateway());
    const guild = await client.guilds.fetch({ guild: guildId, force: true });
    assert.equal((await guild.roles.fetch()).size, 4);
    assert.equal((await guild.channels.fetch()).size, 3);
    assert.equal((await rest.get(Routes.user())).id, client.user.id);
    assert.equal((await client.application.fetch()).id, client.application.id);
  });
  await check("a bot that is sent away hears it", async () => {
    assert.equal((await happens(Events.GuildDelete, "expels", guildId)).id, guildId);
  });
  await client.destroy();
}

/** Starts a Discord, hands its addresses and its people's deeds to `use`, ends it, and returns its record. */
async function inDiscord(use) {
  const program = spawn(process.env.FRO_SIM, ["--discord"], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const told = async () => JSON.parse((await lines.next()).value);
  const ended = once(program, "exit");
  const world = await told();
  const deed = async (...line) => {
    program.stdin.write(`${JSON.stringify(line)}\n`);
    return told();
  };
  try {
    await use({ ...world, deed });
  } finally {
    program.stdin.end();
  }
  const record = await told();
  await ended;
  return record;
}

function within(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it did not come within 20 s")), 20_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
