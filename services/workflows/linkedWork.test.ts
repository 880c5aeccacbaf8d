import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { run as decider } from "../deciders/run.ts";
import { findEndedRuns, type LinkDeps } from "./linkedWork.ts";
import type { OpenRun } from "./openRun.ts";
import type { RunEnd } from "./recentRunEvents.ts";

const CHILD = newId();
const OTHER = newId();

/** Looks for the ends of awaited runs. The run has started only CHILD. `recent`: the runs whose ends this process remembers. */
async function look(awaited: string[], recent: string[]) {
  const reads: string[] = [];
  const end = { type: "RunCompleted", data: {}, personal: { result: { json: "7" } } };
  const deps = {
    findRecentEnd: (stream: string) => (recent.includes(stream) ? (end as RunEnd) : undefined),
    log: {
      heads: async ([stream]: [string]) => {
        reads.push(stream);
        const state = { status: "completed", project_id: null };
        return new Map([[stream, { stream, organization_id: "o", version: 2, state, state_version: decider.version }]]);
      },
      event: async (_: string, version: number) => (version === 2 ? end : undefined),
    },
  };
  const waits = awaited.map((awaited_run_id, n) => [`wait ${n}`, { awaited_run_id, isRegistered: false }]);
  const run = {
    history: {
      organization_id: "o",
      stream: "run-own",
      created: { run_id: newId(), project_id: null },
      state: { status: "running", waits: Object.fromEntries(waits) },
      links: { children: new Map([["start", { child_run_id: CHILD }]]) },
    },
    values: { store: async (json: string) => ({ json }) },
  };
  const { links } = await findEndedRuns(deps as unknown as LinkDeps, run as unknown as OpenRun);
  return { answers: links.map((link) => "answer" in link && "json" in link.answer && link.answer.json), reads };
}

const answer = (run_id: string) => `{"run_id":"${run_id}","status":"completed","result":7,"error":null}`;

test("the end of a child run that this process has just committed is not read from the log", async () => {
  const [child, other] = [streamName("run", CHILD), streamName("run", OTHER)];
  expect(await look([CHILD], [child])).toEqual({ answers: [answer(CHILD)], reads: [] });
  expect(await look([CHILD], [])).toEqual({ answers: [answer(CHILD)], reads: [child] });
  // whether the run may know it depends on its project, which the log has
  expect(await look([OTHER], [other])).toEqual({ answers: [answer(OTHER)], reads: [other] });
});
