import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Master } from "../../fixture/masters.ts";
import { FrameSplitter, requestText } from "../../fixture/proxy/resp.ts";

/** As much of a Sentinel as a client asks for: where the master of this name is, and that there is no other Sentinel. */
export async function startSentinel(name: string, { host, port }: Master) {
  const sockets = new Set<Socket>();
  const bulk = (word: string) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
  const answer = (request: string) => {
    if (/^sentinel get-master-addr-by-name/i.test(request)) {
      return request.endsWith(` ${name}`) ? `*2\r\n${bulk(host)}${bulk(String(port))}` : "*-1\r\n";
    }
    return /^sentinel sentinels/i.test(request) ? "*0\r\n" : "+OK\r\n";
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    const requests = new FrameSplitter((frame) => socket.write(answer(requestText(frame))));
    socket.on("data", (chunk) => requests.push(chunk)).on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
