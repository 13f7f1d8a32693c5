// A second opinion on the adapter: our daemon speaks to `discord-digital-twin`, a Discord that nobody here wrote.
// It differs from Discord where it says nothing of the adapter: it knows neither intents nor limits nor resuming, a thread has
// another number than its message (so that no thread is played here), its roles lack a field, and no message tells whom it
// mentions. The last two are added on the way; the rest is left out.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DigitalDiscord } from "discord-digital-twin";
import { witness } from "./world.mjs";

/** What Discord calls a channel in which people write. */
const TEXT = 0;
const OWNER = "1447000000000000002", SAM = "1447000000000000003", GARDEN = "1447000000000000030";

export default async function testify() {
  const { rows, check } = witness("discord-digital-twin 0.1.1");
  const twin = new DigitalDiscord({
    guild: { name: "Garden", ownerId: OWNER },
    channels: [{ id: GARDEN, name: "garden", type: TEXT }],
    users: [{ id: OWNER, username: "octo" }, { id: SAM, username: "sam" }],
    botUser: { username: "fro-bot" },
  });
  await twin.start();
  const sent = mended(twin);
  const folder = mkdtempSync(join(tmpdir(), "fro-twin-"));
  const env = {
    PATH: process.env.PATH, HOME: folder, FRO_STORE: join(folder, "serve.db"), FRO_LOG: "info",
    FRO_DISCORD_TOKEN: twin.botToken, FRO_DISCORD_API: `http://127.0.0.1:${twin.port}/api`, FRO_DISCORD_GATEWAY: twin.gatewayUrl,
  };
  const serving = spawn(process.env.FRO_BOT, ["serve", "--no-worker"], { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  serving.stderr.on("data", (piece) => (log += piece));
  try {
    await play(twin, sent, check);
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
  return rows;
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
    const role = "1447000000000000040";
    const guildId = twin.guildId;
    await twin.prisma.role.create({ data: { id: role, guildId, name: "askers" } });
    await octo.runSlashCommand({ name: "policy", options: [{ name: "may", type: 3, value: "ask" }, { name: "role", type: 8, value: role }] });
    await said(twin, `May talk to me: <@&${role}>`);
    await twin.prisma.guildMember.update({ where: { guildId_userId: { guildId, userId: SAM } }, data: { roles: JSON.stringify([role]) } });
    await sam.runSlashCommand({ name: "links" });
    await said(twin, "No channel is linked.");
  });
}

async function ours(twin) {
  const messages = await twin.prisma.message.findMany({ where: { authorId: twin.botUserId } });
  return messages.map(({ content }) => content);
}

const said = (twin, words) => until(async () => (await ours(twin)).some((content) => content.includes(words)), words);

async function until(fact, what = "") {
  for (let i = 0; i < 200; i++) {
    const found = await fact();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it did not come to that: ${what}`);
}
