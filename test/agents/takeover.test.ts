import { beforeAll, describe, expect, test } from "vitest";
import { TOOL, type AgentClient } from "./agents.ts";
import { startProcesses, type Processes } from "./deployment.ts";
import { expectStream } from "./grammar.ts";

/* The worker of several responses dies; another one takes the turns, and the readers of each see one stream. */

const done = (n: number, type: string) => (seen: any[]) => seen.filter((event) => event.type === type).length >= n;
const TURNS = {
  /** Two rounds of calls, the second one not asked for yet. */
  between: {
    input: `/reason Hm.\n/slow 3\n/tool ${TOOL} {"text":"a"}\n/tool ${TOOL} {"text":"b"}\n/rounds 2\n/say Done it is.`,
    ready: done(2, "response.output_item.done"),
  },
  speaking: {
    input: `/slow 0.5\n/say one two three ${"and more ".repeat(30)}`,
    ready: done(3, "response.output_text.delta"),
  },
  silent: { input: "/slow 8\n/say late", ready: done(1, "response.in_progress") },
  /** The words that follow a call. */
  after: {
    input: `/slow 0.5\n/tool ${TOOL} {}\n/say one two three ${"and more ".repeat(30)}`,
    ready: done(2, "response.output_text.delta"),
  },
};
type Name = keyof typeof TURNS;
const NAMES = Object.keys(TURNS) as Name[];

let processes: Processes;
let agent: AgentClient;
let elsewhere: AgentClient;
let streams: Record<Name, { live: any[]; resumed: any[] }>;

/** Streams until the end; `onReady` is told once of the events so far, when they are enough. */
function follow({ input, ready }: (typeof TURNS)[Name], onReady: (seen: any[]) => void): Promise<any[]> {
  let told = false;
  return agent.some("/responses", { input, stream: true }, (seen) => {
    if (!told && ready(seen)) onReady(seen);
    told ||= ready(seen);
    return false;
  });
}

beforeAll(async () => {
  processes = await startProcesses();
  agent = processes.at();
  elsewhere = processes.at((await processes.start("http")).url);
  // the first script of a process takes longer than the others
  await agent.ask(`/tool ${TOOL} {}`);
  const live: Promise<any[]>[] = [];
  const ready = NAMES.map((name) => new Promise<any[]>((enough) => void live.push(follow(TURNS[name], enough))));
  const seen = await Promise.all(ready);
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
}, 90_000);

describe.each(NAMES)("%s", (name) => {
  test("is one sound stream, live, resumed, and read again", async () => {
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

test("between rounds of tools it goes on, and no call is made twice", async () => {
  const { status, output } = endOf("between");
  expect(status).toBe("completed");
  const types = output.map(({ type }: { type: string }) => type);
  expect(types).toEqual([...Array(4).fill("function_call"), "reasoning", "message"]);
  // one call before, four of `between`, one of `after`
  expect(await processes.count("ToolFinished")).toBe(6);
  expect(await processes.count("TurnTakenOver")).toBe(4);
});

test("before it says anything, the next worker begins", () =>
  expect(endOf("silent")).toMatchObject({ status: "completed", output: [{ content: [{ text: "late" }] }] }));

test("in the middle of its words it fails with those that were heard, and they stay in the thread", async () => {
  const { id, status, error, output } = endOf("speaking");
  expect([status, error.code, output[0].status]).toEqual(["failed", "agent_error", "incomplete"]);
  const said = output[0].content[0].text;
  expect(said.startsWith("one two three ")).toBe(true);
  const next = await agent.ask("/say So", { previous_response_id: id });
  const { data } = (await agent.call("GET", `/responses/${next.id}/input_items`)).body;
  expect(data[1]).toMatchObject({ role: "assistant", content: [{ text: said }] });
});

test("in the words after a call, the call stands too", () =>
  expect(endOf("after")).toMatchObject({
    status: "failed",
    output: [
      { type: "function_call", status: "completed" },
      { type: "message", status: "incomplete" },
    ],
  }));
