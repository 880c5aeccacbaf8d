import { createSocket } from "node:dgram";
import { once } from "node:events";
import { lookup } from "node:dns/promises";
import { afterEach, expect, test } from "vitest";
import { createResolve } from "./resolveName.ts";

const HEADER = 12;
const REFUSED = 5;
/** The number of a query's type for addresses of IPv4. */
const A = 1;

const sockets: ReturnType<typeof createSocket>[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** Answers a query: names that begin with "four" have an address of IPv4, but nothing for IPv6. Undefined: silence. */
function answerTo(query: Buffer): Buffer | undefined {
  const name = query.toString("latin1", HEADER + 1, HEADER + 1 + query[HEADER]!);
  if (name.startsWith("silent")) return undefined;
  const answer = Buffer.from(query);
  answer.writeUInt16BE(0x8180, 2);
  // no additional records
  answer.writeUInt16BE(0, 10);
  const question = answer.subarray(0, answer.indexOf(0, HEADER) + 5);
  const type = question.readUInt16BE(question.length - 4);
  if (name.startsWith("four") && type !== A) question.writeUInt16BE(0x8180 | REFUSED, 2);
  if (!name.startsWith("four") || type !== A) return question;
  question.writeUInt16BE(1, 6);
  return Buffer.concat([question, Buffer.from([0xc0, HEADER, 0, A, 0, 1, 0, 0, 0, 1, 0, 4, 93, 184, 216, 34])]);
}

/** Refuses every question. */
function refuse(query: Buffer): Buffer {
  const question = Buffer.from(query.subarray(0, query.indexOf(0, HEADER) + 5));
  question.writeUInt16BE(0x8180 | REFUSED, 2);
  question.writeUInt16BE(0, 10);
  return question;
}

/** Opens a name server and returns its address. */
async function openNameServer(answerQuery = answerTo): Promise<string> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  socket.on("message", (query, { port, address }) => {
    const answer = answerQuery(query);
    if (answer) socket.send(answer, port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return `127.0.0.1:${socket.address().port}`;
}

const openResolve = async () => createResolve([await openNameServer()]);

test("a name has the addresses that its name server knows, also if it refuses the question for IPv6", async () => {
  const resolve = await openResolve();
  expect(await resolve("four.example")).toEqual([{ address: "93.184.216.34", family: 4 }]);
  expect(await resolve("four.example.")).toHaveLength(1);
});

test("a name without addresses is unknown, and the error names it", async () => {
  const resolve = await openResolve();
  await expect(resolve("none.example")).rejects.toMatchObject({ code: "ENODATA", hostname: "none.example" });
});

test("the name servers are read again after they have failed, as a machine may have others by then", async () => {
  const servers = [await openNameServer(refuse)];
  const resolve = createResolve(servers);
  servers[0] = await openNameServer();
  await expect(resolve("four.example")).rejects.toMatchObject({ code: "EREFUSED" });
  expect(await resolve("four.example")).toEqual([{ address: "93.184.216.34", family: 4 }]);
});

test("the name servers are not read again after an unknown name", async () => {
  const servers = [await openNameServer()];
  const resolve = createResolve(servers);
  servers[0] = await openNameServer(refuse);
  await expect(resolve("none.example")).rejects.toMatchObject({ code: "ENODATA" });
  expect(await resolve("four.example")).toHaveLength(1);
});

test("names whose servers stay silent do not hold up the system's look-ups", async () => {
  const resolve = await openResolve();
  const silent = Promise.allSettled(Array.from({ length: 50 }, (_, n) => resolve(`silent${n}.example`)));
  const began = performance.now();
  await lookup("localhost");
  expect(performance.now() - began).toBeLessThan(1_500);
  const outcomes = await silent;
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
}, 60_000);

test("without a name server the system answers", async () => {
  const resolve = createResolve(["127.0.0.1:1"]);
  await expect(resolve("nothing.invalid")).rejects.toMatchObject({
    syscall: "getaddrinfo",
    hostname: "nothing.invalid",
  });
});

test.each(["localhost", "sub.localhost"])("the system answers %s", async (name) => {
  const resolve = await openResolve();
  // not every system knows names below localhost
  const addresses = await resolve(name).catch((error: NodeJS.ErrnoException) => {
    expect(error.syscall).toBe("getaddrinfo");
    return [{ address: "127.0.0.1" }];
  });
  expect(addresses.map(({ address }) => address)).toContain("127.0.0.1");
});
