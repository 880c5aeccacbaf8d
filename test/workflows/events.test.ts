import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { StepFailure } from "#services/workflows/tick.ts";
import { stepId } from "#events/ids.ts";
import { code, gate, isOver, openStage, SOON, UNKNOWN, type Stage } from "./stage.ts";

let stage: Stage;
let slow = gate();
beforeAll(async () => {
  stage = await openStage({
    all: {
      run: async (ctx) => {
        const paid = await ctx.runStep("pay", { amount: 1 });
        await ctx.sleep(1);
        const { approved } = await ctx.awaitApproval("boss", { title: "Go?" });
        return { paid, approved };
      },
      steps: {
        pay: (_, { attempt }) => {
          if (attempt === 1) throw new StepFailure("step_error", "busy", { retry_after_ms: 1, logs: ["trying"] });
          return "paid";
        },
      },
    },
    many: {
      run: async (ctx, { many }) =>
        (
          await ctx.runStepMany(
            "count",
            Array.from({ length: many }, (_, n) => n),
            50,
          )
        ).length,
      steps: { count: (n) => n },
    },
    slow: { run: async (ctx) => ctx.runStep("slow"), steps: { slow: () => slow.opened.then(() => "late") } },
    wide: {
      run: async (ctx) =>
        (
          await ctx.runStepMany(
            "big",
            Array.from({ length: 40 }, (_, n) => n),
            10,
          )
        ).length,
      steps: { big: (n) => `${n}`.padEnd(60_000, "x") },
    },
  });
});

interface Heard {
  id: number | undefined;
  event: string;
  data: any;
}
const parse = (text: string): Heard[] =>
  text
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":"))
    .map((frame) => {
      const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
      return { id: fields.id && Number(fields.id), event: fields.event, data: JSON.parse(fields.data) };
    });

/** Events as they come, until the other side ends or `enough` says so; then the connection is cut. */
async function listen(
  run: string,
  { after, enough, url = stage.url }: { after?: number; enough?: (heard: Heard[]) => boolean; url?: string } = {},
): Promise<Heard[]> {
  const cut = new AbortController();
  const answer = await fetch(`${url}/api/workflows/runs/${run}/events`, {
    headers: {
      authorization: `Bearer ${stage.home.session}`,
      ...(after !== undefined && { "last-event-id": String(after) }),
    },
    signal: cut.signal,
  });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  let text = "";
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (enough?.(parse(text.slice(0, text.lastIndexOf("\n\n") + 2)))) {
      cut.abort();
      break;
    }
  }
  return parse(text.slice(0, text.lastIndexOf("\n\n") + 2));
}
const names = (heard: Heard[]) => heard.map(({ event }) => event);
const approve = async (run: string) => {
  const pending = async () => (await stage.home.person("GET", `/runs/${run}/approvals`)).body.data;
  await expect.poll(async () => (await pending()).length, SOON).toBe(1);
  const [{ id }] = await pending();
  await stage.made(stage.home.person("POST", `/approvals/${id}/decision`, { decision: "approve" }));
  return id as string;
};

const COURSE = [
  "run.created",
  "run.started",
  "step.scheduled",
  "step.started",
  "step.log",
  "step.retrying",
  "step.started",
  "step.completed",
  "timer.started",
  "timer.fired",
  "approval.requested",
  "approval.decided",
  "run.completed",
];

describe("the events of a run", () => {
  test("come as they happen, and end with it", async () => {
    const run = await stage.start(await stage.register("all"));
    const listening = listen(run);
    const approval_id = await approve(run);
    const heard = await listening;
    expect(names(heard)).toEqual(COURSE);
    const { steps, result } = await stage.until(run, isOver);
    const [step] = steps;
    expect(result).toEqual({ paid: "paid", approved: true });
    const told = Object.fromEntries(heard.map(({ event, data }) => [event, data]));
    const at = { run_id: run, at: expect.any(String) };
    const of = { ...at, step_id: stepId(run, step.key), step: "pay" };
    expect(told["step.log"]).toEqual({ ...of, attempt: 1, logs: ["trying"] });
    expect(told["step.retrying"]).toEqual({
      ...of,
      attempt: 1,
      code: "step_error",
      error: "busy",
      next_attempt_at: expect.any(String),
    });
    expect(told["step.completed"]).toEqual({ ...of, attempt: 2, duration_ms: expect.any(Number), result: "paid" });
    expect(told["approval.decided"]).toMatchObject({
      approval_id,
      decision: "approve",
      decided_by: { type: "person" },
    });
    expect(told["run.completed"]).toEqual({ ...at, completion: "implicit", result });
    const ids = heard.flatMap(({ id }) => id ?? []);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(ids.at(-1)).toBe((await stage.events(run)).length);
  });

  test("are told again, whole or after any of them, by every process", async () => {
    const run = await stage.start(await stage.register("all"));
    await approve(run);
    await stage.until(run, isOver);
    const twin = await stage.twin();
    const whole = await listen(run);
    expect(names(whole)).toEqual(COURSE);
    for (const [n, { id }] of whole.entries()) {
      if (id === undefined) continue;
      expect(await listen(run, { after: id, url: n % 2 ? twin : stage.url })).toEqual(whole.slice(n + 1));
    }
    expect(await listen(run, { after: 9_999 })).toEqual([]);
  });

  test("go on where a reader left, again and again", async () => {
    const workflow = await stage.register("many", { envelope: { limits: { max_parallel: 5 } } });
    const run = await stage.start(workflow, { many: 60 });
    const heard: Heard[] = [];
    const twin = await stage.twin();
    for (let turn = 0; heard.at(-1)?.event !== "run.completed"; turn++) {
      const after = heard.findLast(({ id }) => id !== undefined)?.id;
      const more = await listen(run, {
        ...(after !== undefined && { after }),
        enough: (events) => events.length >= 15,
        url: turn % 2 ? twin : stage.url,
      });
      // what came after the last id comes again
      const kept = heard.findLastIndex(({ id }) => id !== undefined) + 1;
      heard.splice(kept, heard.length, ...more);
      expect(turn).toBeLessThan(100);
    }
    expect(heard).toEqual(await listen(run));
    const count = (event: string) => heard.filter((each) => each.event === event).length;
    expect([count("step.scheduled"), count("step.started"), count("step.completed")]).toEqual([60, 60, 60]);
  });

  test("of a run that is cancelled end with the steps that it has left behind", async () => {
    slow = gate();
    onTestFinished(slow.open);
    const run = await stage.start(await stage.register("slow"));
    const heard: Heard[] = [];
    const listening = listen(run, {
      enough: (events) => {
        heard.splice(0, heard.length, ...events);
        return false;
      },
    });
    await expect.poll(() => names(heard), SOON).toContain("step.started");
    await stage.made(stage.home.person("POST", `/runs/${run}/cancel`));
    await expect.poll(() => names(heard), SOON).toContain("run.cancelled");
    slow.open();
    expect(names(await listening).slice(-2)).toEqual(["run.cancelled", "step.completed"]);
  });

  test("reach a slow reader whole, however long they are", async () => {
    const run = await stage.start(await stage.register("wide"));
    await stage.until(run, isOver);
    const heard = await listen(run);
    const results = heard.filter(({ event }) => event === "step.completed").map(({ data }) => data.result.length);
    expect(results).toEqual(Array(40).fill(60_000));
    expect(heard.at(-1)!.event).toBe("run.completed");
  });

  test("are for those who may read the run", async () => {
    const { home } = stage;
    const run = await stage.start(await stage.register("many"), { many: 1 });
    await stage.until(run, isOver);
    const other = await stage.join("Other");
    const unknown = await other.person("GET", `/runs/${UNKNOWN}/events`);
    expect(code(unknown)).toEqual([404, "run_not_found"]);
    expect((await other.person("GET", `/runs/${run}/events`)).text).toBe(unknown.text);
    expect((await home.key("GET", `/runs/${run}/events`)).text).toBe(
      (await home.person("GET", `/runs/${run}/events`)).text,
    );
    for (const id of ["x", "-1", "1.5", "1e3"]) {
      const { status, body } = await home.person("GET", `/runs/${run}/events`, undefined, { "last-event-id": id });
      expect([status, body.error.param]).toEqual([400, "Last-Event-ID"]);
    }
  });
});
