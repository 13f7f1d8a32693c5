// A proxy that passes everything on and remembers which GraphQL questions went by.

import { once } from "node:events";
import { createServer, request as send } from "node:http";
import { buffer } from "node:stream/consumers";

/** Starts the proxy in front of an address and returns its own address, the questions so far, and its end. */
export async function recorder(target) {
  const questions = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { pathname, search } = new URL(request.url, target);
    if (pathname === "/graphql") questions.push(JSON.parse(body));
    const { method, headers } = request;
    const onward = send(new URL(pathname + search, target), { method, headers }, async (answer) => {
      const { "content-length": length, ...told } = answer.headers;
      if (!told["content-type"]?.startsWith("application/json")) {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
        return;
      }
      // A client sends its token to the host that it knows, and to no other.
      const body = (await buffer(answer)).toString().replaceAll(target, `http://${headers.host}`);
      response.writeHead(answer.statusCode, { ...told, ...(length && { "content-length": Buffer.byteLength(body) }) });
      response.end(body);
    });
    onward.on("error", () => response.destroy());
    onward.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const end = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${server.address().port}`, questions, end };
}
