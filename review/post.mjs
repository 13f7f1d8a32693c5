// Finishes what a killed run of the reviewer left open.

process.env.FRO_ROLE = "review";
await import("../launch/post.mjs");
