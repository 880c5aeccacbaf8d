import { beforeAll, describe, expect, test } from "vitest";
import { TOOL, type AgentClient } from "./agents.ts";
import { startProcesses, type Processes } from "./deployment.ts";
import { expectStream } from "./grammar.ts";

/* The worker of several responses dies. Another one takes their turns over, and every reader gets one stream. */

const done = (n: number, type: string) => (seen: any[]) => seen.filter((event) => event.type === type).length >= n;
/** Started one after the other: the last two would soon reach their next round or their end. */
const TURNS = {
  /** Text that follows a call. */
  after: {
    input: `/slow 0.5\n/tool ${TOOL} {}\n/say one two three ${"and more ".repeat(30)}`,
    ready: done(2, "response.output_text.delta"),
  },
  speaking: {
    input: `/slow 0.5\n/say one two three ${"and more ".repeat(30)}`,
    ready: done(3, "response.output_text.delta"),
  },
  /** Two rounds of calls; the worker dies before the second. */
  between: {
    input: `/reason Hm.\n/slow 3\n/tool ${TOOL} {"text":"a"}\n/tool ${TOOL} {"text":"b"}\n/rounds 2\n/say Done it is.`,
    ready: done(2, "response.output_item.done"),
  },
  silent: { input: "/slow 8\n/say late", ready: done(1, "response.in_progress") },
};
type Name = keyof typeof TURNS;
const NAMES = Object.keys(TURNS) as Name[];

let processes: Processes;
let agent: AgentClient;
let elsewhere: AgentClient;
let streams: Record<Name, { live: any[]; resumed: any[] }>;

/** Streams until the end. Calls `onReady` once with the events so far, when they suffice. */
function follow({ input, ready }: (typeof TURNS)[Name], onReady: (seen: any[]) => void): Promise<any[]> {
  let isReady = false;
  return agent.some("/responses", { input, stream: true }, (seen) => {
    if (!isReady && ready(seen)) onReady(seen);
    isReady ||= ready(seen);
    return false;
  });
}

beforeAll(async () => {
  processes = await startProcesses();
  agent = processes.at();
  elsewhere = processes.at((await processes.start("http")).url);
  // the first script of a process takes longer
  await agent.ask(`/tool ${TOOL} {}`);
  const live: Promise<any[]>[] = [];
  const seen: any[][] = [];
  for (const name of NAMES)
    seen.push(await new Promise<any[]>((enough) => void live.push(follow(TURNS[name], enough))));
  processes.worker.kill();
  const resumed = seen.map(async (first) => [
    ...first,
    ...(await elsewhere.resume(first[0].response.id, first.length - 1)),
  ]);
  await processes.start("services");
  const [whole, parts] = [await Promise.all(live), await Promise.all(resumed)];
  streams = Object.fromEntries(
    NAMES.map((name, n) => [name, { live: whole[n]!, resumed: parts[n]! }]),
  ) as typeof streams;
});

describe.each(NAMES)("a response whose worker dies, case %s,", (name) => {
  test("is one valid stream: live, resumed, and replayed", async () => {
    const { live, resumed } = streams[name];
    const response = expectStream(live);
    expect(resumed).toEqual(live);
    for (const client of [agent, elsewhere]) {
      expect(await client.resume(response.id)).toEqual(live);
      expect((await client.call("GET", `/responses/${response.id}`)).body).toEqual(response);
    }
  });
});

const endOf = (name: Name) => streams[name].live.at(-1).response;

test("a turn whose worker dies between rounds of tools continues, and repeats no call", async () => {
  const { status, output } = endOf("between");
  expect(status).toBe("completed");
  const types = output.map(({ type }: { type: string }) => type);
  expect(types).toEqual([...Array(4).fill("function_call"), "reasoning", "message"]);
  // one call before, four of `between`, one of `after`
  expect(await processes.count("ToolFinished")).toBe(6);
  expect(await processes.count("TurnTakenOver")).toBe(4);
});

test("a turn whose worker dies before the first output is started by the next worker", () =>
  expect(endOf("silent")).toMatchObject({ status: "completed", output: [{ content: [{ text: "late" }] }] }));

test("a turn whose worker dies in the middle of its text fails with the text that was sent, and the thread keeps it", async () => {
  const { id, status, error, output } = endOf("speaking");
  expect([status, error.code, output[0].status]).toEqual(["failed", "agent_error", "incomplete"]);
  const said = output[0].content[0].text;
  expect(said.startsWith("one two three ")).toBe(true);
  const next = await agent.ask("/say So", { previous_response_id: id });
  const { data } = (await agent.call("GET", `/responses/${next.id}/input_items`)).body;
  expect(data[1]).toMatchObject({ role: "assistant", content: [{ text: said }] });
});

test("a turn whose worker dies in the text after a tool call keeps the call too", () =>
  expect(endOf("after")).toMatchObject({
    status: "failed",
    output: [
      { type: "function_call", status: "completed" },
      { type: "message", status: "incomplete" },
    ],
  }));
