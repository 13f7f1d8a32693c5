// Starts fro-bot as the reviewer, for the event of this workflow run.

process.env.FRO_ROLE = "review";
await import("../launch/main.mjs");
