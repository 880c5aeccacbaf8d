import type { Answer, Attacker } from "../attacker.ts";
import { all, many, KIB, type Attack } from "./attack.ts";

/* Reads whose answers would be as large as somebody has made what they read. */

const READERS = 20;

const read = (attacker: Attacker, ...paths: string[]): Promise<Answer[]> =>
  all(READERS, (n) => attacker.owner("GET", paths[n % paths.length]!));

/** Makes something once for each attacker. */
function once<T>(make: (attacker: Attacker) => Promise<T>): (attacker: Attacker) => Promise<T> {
  const made = new WeakMap<Attacker, Promise<T>>();
  return (attacker) => {
    const found = made.get(attacker) ?? make(attacker);
    made.set(attacker, found);
    return found;
  };
}

/** An ended run of a workflow. */
async function runOf(attacker: Attacker, source: string): Promise<string> {
  const name = `reads_${Math.random().toString(36).slice(2)}`;
  const definition = await attacker.create("/api/definitions", { type: "workflow", name, source });
  const workflow = await attacker.create("/api/workflows", { definition_id: definition.id });
  const { body } = await attacker.owner("POST", `/api/workflows/${workflow.id}/runs`, { args: {} });
  for (;;) {
    const { body: run } = await attacker.owner("GET", `/api/workflows/runs/${body.id}?steps=false&wait=20`);
    if (run?.completed_at) return body.id;
  }
}

const longRun = once((attacker) =>
  runOf(
    attacker,
    `export const steps = { long: ({ n }) => { for (let i = 0; i < 25; i++) console.log("l".repeat(10000)); return String(n).padEnd(60000, '"'); } };
export async function run(ctx) {
  await ctx.runStepMany("long", Array.from({ length: 150 }, (_, n) => ({ n })), { concurrency: 20 });
  return ctx.complete(1);
}`,
  ),
);

/** The last turn of a thread with 15 turns of 800 KB, and 60 short ones. */
const longThread = once(async (attacker) => {
  const { thread } = await attacker.turn("first");
  const say = (text: string) =>
    attacker.send(
      "POST",
      "/api/openai/v1/chat/completions",
      { model: "offline/echo", max_tokens: 5, messages: [{ role: "user", content: text }] },
      { headers: { "x-thread-id": thread! } },
    );
  for (const size of [...many(15, () => 800 * KIB), ...many(60, () => 10)]) await say('"'.repeat(size));
  const { body } = await say("last");
  return { turn: body.id as string, thread: thread! };
});

/** An agent of 60 versions, and 60 agents, with instructions of 100,000 characters. */
const longAgents = once(async (attacker) => {
  const instructions = "x".repeat(100_000);
  const agents = await all(60, (n) =>
    attacker.owner("POST", "/api/agents", { name: `Long ${n}`, model: "offline/echo", instructions }),
  );
  const { id } = agents.find(({ status }) => status === 201)!.body;
  for (let n = 0; n < 60; n++)
    await attacker.owner("PATCH", `/api/agents/${id}`, { instructions: `${n}${instructions.slice(3)}` });
  return id as string;
});

export const reads: Attack[] = [
  {
    title: "20 reads of a run with 150 results of 60 KB and 37 MB of logs",
    prepare: longRun,
    mustAnswer: { 200: 4 },
    run: async (attacker) => {
      const run = `/api/workflows/runs/${await longRun(attacker)}`;
      return read(attacker, run, `${run}/steps?limit=500&values=true`, `${run}?step_values=false`, `${run}/approvals`);
    },
  },
  {
    title: "20 traces and pages of a thread of 12 MB",
    prepare: longThread,
    mustAnswer: { 200: 4 },
    run: async (attacker) => {
      const { turn, thread } = await longThread(attacker);
      const messages = () => attacker.send("GET", `/api/openai/v1/threads/${thread}/messages?limit=500`);
      return [...(await read(attacker, `/api/turns/${turn}/trace`)), ...(await all(READERS, messages))];
    },
  },
  {
    title: "20 lists of 60 agents, and of 60 versions, with instructions of 100 KB",
    prepare: longAgents,
    mustAnswer: { 200: 4 },
    run: async (attacker) => {
      const agent = await longAgents(attacker);
      return read(
        attacker,
        "/api/agents?limit=500",
        `/api/agents/${agent}/versions?limit=500`,
        "/api/events?limit=500",
      );
    },
  },
];
