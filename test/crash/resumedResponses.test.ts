import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { Note, Operation } from "../../dev/crash/journal.ts";
import { respond } from "../../dev/crash/load/agents.ts";
import type { Session } from "../../dev/crash/load/session.ts";
import { openWire } from "../../dev/crash/load/wire.ts";
import { randomFrom } from "../../dev/crash/random.ts";
import { afterTest } from "../cleanUp.ts";

const RESPONSE = "resp_a";
const RESTARTING = { type: "error", code: "unavailable", message: "The server is restarting." };

/** The stream of one response with the text "Found.", in two pieces. */
const EVENTS: { type: string; [field: string]: unknown }[] = [
  { type: "response.created", response: { id: RESPONSE } },
  ...["Fou", "nd."].map((delta) => ({ type: "response.output_text.delta", delta })),
  {
    type: "response.completed",
    response: { id: RESPONSE, status: "completed", output: [{ type: "message", content: [{ text: "Found." }] }] },
  },
].map((event, sequence_number) => ({ ...event, sequence_number }));
const encode = (events: typeof EVENTS) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** A server that restarts after the third event, and numbers from where the client asks. */
async function startRestartingServer() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const after = new URL(request.url!, "http://host").searchParams.get("starting_after");
    response.setHeader("content-type", "text/event-stream");
    response.end(
      after === null
        ? encode([...EVENTS.slice(0, 3), { ...RESTARTING, sequence_number: 2 }])
        : encode(EVENTS.slice(Number(after) + 1)),
    );
    request.resume();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

/** Choices of an action that streams. */
const streaming = () => ({ ...randomFrom("resumed"), chance: () => true });

test("a client of the harness resumes the stream of a server that restarts after its last event, without a gap", async () => {
  const { port, asked } = await startRestartingServer();
  const notes: Note[] = [];
  const journal = { now: () => performance.now(), note: (note: Note) => void notes.push(note) } as Session["journal"];
  const wire = openWire(journal, [port], 0);
  afterTest(() => wire.close());
  const session = { journal, wire, client: 0, agent: "agent", user: "user", answered: [], responses: [] };
  await respond({ id: "1", random: streaming(), session: session as unknown as Session });
  expect(asked.at(-1)).toContain("starting_after=2");
  const { got } = notes.find(({ kind }) => kind === "operation") as Operation;
  expect(got).toMatchObject({ numbered: true, terminal: 1, deltas: "Found.", text: "Found." });
});
