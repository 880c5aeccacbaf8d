import { expect, test } from "vitest";
import { startTwoHttp } from "./deployment.ts";
import { TOOL, type AgentClient } from "./agents.ts";
import { expectStream } from "./grammar.ts";

/* Another http process than the one that answers cancels a response. */

const { processes, agent, elsewhere } = await startTwoHttp();
// makes the worker load its tokenizer
await agent.ask("/say Ready");

/** Streams a response and cancels it through another process once `when` is true: all events, the answer and its duration. */
async function cancelWhen(input: string, when: (seen: any[]) => boolean, more: object = {}) {
  let answer: ReturnType<AgentClient["call"]> | undefined;
  let startedAt = 0;
  let took = 0;
  const events = await agent.some("/responses", { input, stream: true, ...more }, (seen) => {
    if (!answer && when(seen)) {
      startedAt = performance.now();
      answer = elsewhere.call("POST", `/responses/${seen[0].response.id}/cancel`);
      void answer.then(() => (took = performance.now() - startedAt));
    }
    return false;
  });
  return { events, answer: await answer!, took };
}
const hasText = (words: string) => (seen: any[]) =>
  seen
    .map(({ type, delta }) => (type === "response.output_text.delta" ? delta : ""))
    .join("")
    .startsWith(words);

test("a running response is cancelled before its next word: its stream ends, and its output is kept", async () => {
  const { events, answer } = await cancelWhen("/slow 3\n/say one two three four five six", hasText("one two"));
  const response = expectStream(events);
  expect(events.at(-1).type).toBe("response.failed");
  expect(response).toMatchObject({ status: "cancelled", error: null, completed_at: null });
  expect(response.output).toMatchObject([{ status: "incomplete", content: [{ text: "one two " }] }]);
  expect(response.usage.total_tokens).toBeGreaterThan(0);
  expect([answer.status, answer.body]).toEqual([200, response]);
  expect(answer.headers.get("x-thread-id")).toBe(response.thread_id);
  for (const client of [agent, elsewhere]) {
    expect((await client.call("GET", `/responses/${response.id}`)).body).toEqual(response);
    expect(await client.resume(response.id)).toEqual(events);
  }
  const next = await agent.ask("/say So", { previous_response_id: response.id });
  const { data } = (await agent.call("GET", `/responses/${next.id}/input_items`)).body;
  expect(data.map(({ content }: any) => content[0].text)).toEqual([expect.any(String), "one two ", "/say So"]);
});

test("a response can be cancelled before its first output, during reasoning, and during a tool call", async () => {
  const silent = await cancelWhen("/slow 30\n/say late", ({ length }) => length === 2);
  expect(expectStream(silent.events)).toMatchObject({ status: "cancelled", output: [] });
  const thinking = await cancelWhen("/reason Hm.\n/slow 30\n/say late", ({ length }) => length === 4);
  expect(expectStream(thinking.events)).toMatchObject({ status: "cancelled", output: [{ type: "reasoning" }] });

  const source = `export const meta = { description: "Never ends.", parameters: { type: "object" }, secrets: [] };
    export async function execute() { for (;;); }`;
  await processes.person.call("POST", "/definitions", { type: "tool", name: "spin", source });
  const spinning = { name: "B", model: "offline/scripted", tools: ["spin"] };
  const { id } = (await processes.person.call("POST", "/agents", spinning)).body;
  const [here, there] = [processes.at(undefined, id), elsewhere];
  let answer: Promise<any> | undefined;
  const events = await here.some("/responses", { input: "/tool spin {}", stream: true }, (seen) => {
    if (seen.at(-1).type === "response.function_call_arguments.done")
      answer ??= there.call("POST", `${here.base}/responses/${seen[0].response.id}/cancel`);
    return false;
  });
  const response = expectStream(events);
  expect(response).toMatchObject({ status: "cancelled", output: [{ type: "function_call", status: "incomplete" }] });
  expect((await answer).body).toEqual(response);
  // The model would have spoken after 30 s.
  for (const { took } of [silent, thinking]) expect(took).toBeLessThan(15_000);
});

test("a client that waits for a buffered response receives the cancelled response", async () => {
  const { id } = await agent.ask("/say First");
  const waiting = agent.ask("/slow 0.3\n/say one two three four five", { previous_response_id: id, user: undefined });
  const sql = "select id from read.turns where status = 'running'";
  const running = async () => (await processes.home.resources.db.query<{ id: string }>(sql))[0]?.id;
  await expect.poll(running).toBeDefined();
  const { body } = await elsewhere.call("POST", `/responses/${await running()}/cancel`);
  expect(await waiting).toEqual(body);
  expect(body.status).toBe("cancelled");
});

test("a response that has ended is not changed by a cancellation", async () => {
  const completed = await agent.ask("/say Done");
  const failed = await agent.ask("/fail 400");
  const { events } = await cancelWhen("/slow 0.3\n/say one two three", ({ length }) => length === 2);
  for (const response of [completed, failed, events.at(-1).response]) {
    const { status, body } = await elsewhere.call("POST", `/responses/${response.id}/cancel`);
    expect([status, body]).toEqual([200, response]);
  }
});

test("a response whose worker died can be cancelled, and all readers get the same stream", async () => {
  const { worker, start } = processes;
  const other = await start("services");
  // either of the two may run the turn, so both are killed, and a third one decides
  let third: Awaited<ReturnType<typeof start>> | undefined;
  let answer: Promise<any> | undefined;
  const events = await agent.some(
    "/responses",
    { input: `/tool ${TOOL} {}\n/slow 0.2\n/say one two three four five`, stream: true },
    (seen) => {
      if (!hasText("one two")(seen) || answer) return false;
      worker.kill();
      other.kill();
      answer = start("services").then((started) => {
        third = started;
        return elsewhere.call("POST", `/responses/${seen[0].response.id}/cancel`);
      });
      return false;
    },
  );
  const response = expectStream(events);
  expect(response).toMatchObject({
    status: "cancelled",
    output: [
      { type: "function_call", status: "completed" },
      { type: "message", status: "incomplete" },
    ],
  });
  expect(response.usage.total_tokens).toBeGreaterThan(0);
  expect((await answer).body).toEqual(response);
  expect(third).toBeDefined();
  for (const client of [agent, elsewhere]) expect(await client.resume(response.id)).toEqual(events);
  expect((await agent.ask("/say Back")).status).toBe("completed");
});
