// A second opinion on the adapter: our daemon speaks to `discord-digital-twin`, a Discord that nobody here wrote.
// The worker is there too, with the real engine and a simulated GitHub: a channel is linked, and a thread is talked in.
// The twin differs from Discord: it knows neither intents nor limits nor resuming, a thread has another number than its
// message, its roles lack a field, and no message tells whom it mentions. The last three are mended on the way; the rest is
// left out.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DigitalDiscord } from "discord-digital-twin";
import { inWorld, witness } from "./world.mjs";

/** What Discord calls a channel in which people write. */
const TEXT = 0;
const OWNER = "1447000000000000002", SAM = "1447000000000000003", GARDEN = "1447000000000000030";
const ROLE = "1447000000000000040";

export default async function testify() {
  const { rows, check } = witness("discord-digital-twin 0.1.1");
  const model = await sayer("The hose leaks.");
  await inWorld((world) => converse({ ...world, model: model.url }, check)).finally(() => model.server.close());
  return rows;
}

async function converse(world, check) {
  const twin = new DigitalDiscord({
    guild: { name: "Garden", ownerId: OWNER },
    channels: [{ id: GARDEN, name: "garden", type: TEXT }],
    users: [{ id: OWNER, username: "octo" }, { id: SAM, username: "sam" }],
    botUser: { username: "fro-bot" },
  });
  await twin.start();
  const sent = mended(twin);
  numbered(twin);
  const folder = mkdtempSync(join(tmpdir(), "fro-twin-"));
  const env = { ...discord(twin), ...github(world), PATH: process.env.PATH, HOME: folder, RUNNER_TEMP: folder,
    FRO_STORE: join(folder, "serve.db"), FRO_LOG: "info" };
  const serving = spawn(process.env.FRO_BOT, ["serve"], { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  serving.stderr.on("data", (piece) => (log += piece));
  try {
    await play(twin, sent, check);
    await talk(twin, world, check, () => log);
    await check("SIGTERM: it leaves, with exit code 0", async () => {
      serving.kill("SIGTERM");
      const [code] = await once(serving, "exit");
      assert.equal(code, 0, log);
    });
    await check("nothing that the twin sent was unreadable", () => assert.doesNotMatch(log, /cannot be read/, log));
  } finally {
    serving.kill("SIGKILL");
    await twin.stop();
    rmSync(folder, { recursive: true });
  }
}

const discord = (twin) => ({
  FRO_DISCORD_TOKEN: twin.botToken, FRO_DISCORD_API: `http://127.0.0.1:${twin.port}/api`, FRO_DISCORD_GATEWAY: twin.gatewayUrl,
});

/** What a worker needs of GitHub and of a model, and where the tests keep engines. */
function github(world) {
  const model = { name: "M1", tool_call: true, limit: { context: 100000, output: 8000 }, cost: { input: 1, output: 2 } };
  const options = { baseURL: world.model, apiKey: "sk-scripted" };
  const provider = { scripted: { npm: "@ai-sdk/openai-compatible", name: "Scripted", options, models: { m1: model } } };
  return {
    FRO_GITHUB_CLIENT_ID: world.app.client_id, GITHUB_TOKEN: world.tokens["fro-bot"], GITHUB_API_URL: world.api,
    GITHUB_GRAPHQL_URL: world.graphql, GITHUB_SERVER_URL: world.api, "INPUT_ENABLE-OMO": "false",
    "INPUT_OPENCODE-CONFIG": JSON.stringify({ model: "scripted/m1", enabled_providers: ["scripted"], provider }),
    RUNNER_TOOL_CACHE: join(dirname(dirname(process.env.FRO_BOT)), "tools"),
  };
}

/** Starts a model that always says the same. */
async function sayer(text) {
  const answer = (object, choice) => JSON.stringify({ id: "1", object, created: 0, model: "m1", choices: [{ index: 0, ...choice }] });
  const server = createServer(async (request, response) => {
    let asked = "";
    for await (const piece of request) asked += piece;
    // Whether the key is good is found out by the list of models.
    if (request.method === "GET") return response.end(JSON.stringify({ object: "list", data: [{ id: "m1", object: "model" }] }));
    const message = { role: "assistant", content: text };
    if (!JSON.parse(asked).stream) return response.end(answer("chat.completion", { message, finish_reason: "stop" }));
    response.setHeader("content-type", "text/event-stream");
    const pieces = [{ delta: message, finish_reason: null }, { delta: {}, finish_reason: "stop" }];
    for (const choice of pieces) response.write(`data: ${answer("chat.completion.chunk", choice)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, url: `http://127.0.0.1:${server.address().port}/v1` };
}

/** Gives a thread on a message the message's number, as Discord does. */
function numbered(twin) {
  const { channel, threadMember } = twin.prisma, numbers = new Map();
  const [create, find, join] = [channel.create.bind(channel), channel.findUniqueOrThrow.bind(channel), threadMember.create.bind(threadMember)];
  const now = (id) => numbers.get(id) ?? id;
  channel.create = ({ data }) => {
    if (data.starterMessageId) numbers.set(data.id, data.starterMessageId);
    return create({ data: { ...data, id: now(data.id) } });
  };
  channel.findUniqueOrThrow = ({ where }) => find({ where: { id: now(where.id) } });
  threadMember.create = ({ data }) => join({ data: { ...data, channelId: now(data.channelId) } });
}

/** Adds the two fields that Discord sends and the twin does not, and notes what is sent. */
function mended(twin) {
  const gateway = twin.server.gateway, sent = [];
  const send = gateway.send.bind(gateway);
  gateway.send = (client, payload) => {
    const { t, d } = payload;
    if (t === "GUILD_CREATE") for (const role of d.roles) role.colors ??= { primary_color: 0, secondary_color: null, tertiary_color: null };
    if (t === "MESSAGE_CREATE" && d.content.includes(`<@${twin.botUserId}>`)) d.mentions = [{ id: twin.botUserId, username: "fro-bot" }];
    sent.push(t);
    return send(client, payload);
  };
  return sent;
}

async function play(twin, sent, check) {
  const garden = twin.channel(GARDEN), sam = garden.user(SAM), octo = garden.user(OWNER);
  await check("identify: READY and GUILD_CREATE are taken", () => until(() => sent.includes("GUILD_CREATE")));
  await check("PUT commands: the twin has all of ours", async () => {
    const commands = await until(async () => {
      const found = await twin.prisma.applicationCommand.findMany();
      return found.length >= 16 && found;
    });
    for (const name of ["link", "policy", "new", "help"]) assert.ok(commands.some((it) => it.name === name), name);
  });
  await check("a mention in a channel that is linked to nothing is answered there", async () => {
    await sam.sendMessage({ content: `<@${twin.botUserId}> hello` });
    await said(twin, "This channel is linked to no repository");
  });
  await check("a message that mentions nobody is not answered", async () => {
    await sam.sendMessage({ content: "nice weather" });
    await sam.sendMessage({ content: `<@${twin.botUserId}> hello again` });
    const answers = async () => (await ours(twin)).filter((it) => it.includes("linked to no repository")).length;
    await until(async () => (await answers()) >= 2);
    assert.equal(await answers(), 2);
  });
  await check("a command is answered: /help", async () => {
    await sam.runSlashCommand({ name: "help" });
    await said(twin, "Mention me in a linked channel");
  });
  await check("a command that only some may give is refused in words: /links", async () => {
    await sam.runSlashCommand({ name: "links" });
    await said(twin, "this needs a role that may");
  });
  await check("the owner sets a role by its number, and who has it may: /policy, /links", async () => {
    const role = ROLE, guildId = twin.guildId;
    await twin.prisma.role.create({ data: { id: role, guildId, name: "askers" } });
    await octo.runSlashCommand({ name: "policy", options: [{ name: "may", type: 3, value: "ask" }, { name: "role", type: 8, value: role }] });
    await said(twin, `May talk to me: <@&${role}>`);
    await twin.prisma.guildMember.update({ where: { guildId_userId: { guildId, userId: SAM } }, data: { roles: JSON.stringify([role]) } });
    await sam.runSlashCommand({ name: "links" });
    await said(twin, "No channel is linked.");
  });
}

/** Links the channel, and talks in a thread: both turns are the real engine's. */
async function talk(twin, world, check, log) {
  const sam = twin.channel(GARDEN).user(SAM);
  await check("/link: the code is shown, typed at GitHub, and the channel is linked", async () => {
    const octo = twin.channel(GARDEN).user(OWNER);
    const role = { name: "role", type: 8, value: ROLE };
    await octo.runSlashCommand({ name: "policy", options: [{ name: "may", type: 3, value: "link" }, role] });
    await said(twin, `May link channels, set this and read the audit: <@&${ROLE}>`);
    await sam.runSlashCommand({ name: "link", options: [{ name: "repo", type: 3, value: "octo/garden" }] });
    const code = await until(async () => (await ours(twin)).map((it) => /`(\w{4}-\w{4})`/.exec(it)?.[1]).find(Boolean), "a code");
    const headers = { accept: "application/json", authorization: `Bearer ${world.tokens.maya}` };
    await fetch(`${world.api}/login/device`, { method: "POST", headers, body: new URLSearchParams({ user_code: code }) });
    await said(twin, "This channel is now linked to **octo/garden**");
  });
  await check("a mention opens a thread on itself, with the engine's answer; words there go on", async () => {
    const { id } = await sam.sendMessage({ content: `<@${twin.botUserId}> why is the floor wet?` });
    const footers = async () => (await ours(twin, id)).filter((it) => it.startsWith("-# octo/garden · "));
    await until(async () => (await footers()).length === 1, `an answer: ${log()}`);
    await twin.channel(id).user(SAM).sendMessage({ content: "and since when?" });
    await until(async () => (await footers()).length === 2, `a second answer: ${log()}`);
    assert.equal((await ours(twin, id)).filter((it) => it === "The hose leaks.").length, 2);
    const threads = await twin.prisma.channel.findMany({ where: { parentId: GARDEN } });
    assert.deepEqual(threads.map((it) => [it.id, it.name]), [[id, "why is the floor wet?"]]);
  });
}

async function ours(twin, channelId) {
  const messages = await twin.prisma.message.findMany({ where: { authorId: twin.botUserId, channelId } });
  return messages.map(({ content }) => content);
}

const said = (twin, words) => until(async () => (await ours(twin)).some((content) => content.includes(words)), words);

async function until(fact, what = "") {
  // An engine is started meanwhile, on a machine that may have other things to do.
  for (let i = 0; i < 2400; i++) {
    const found = await fact();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it did not come to that: ${what}`);
}
