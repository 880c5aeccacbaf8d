import { isDeepStrictEqual } from "node:util";
import type { StoredState } from "#events/decider.ts";
import type { RunState } from "./runState.ts";

/* The head row of a run omits empty fields, which are most of them: 200,000 runs may wait for people. */

const EMPTY_RUN = { project_id: null, worker: null, slot: null, first_run_id: null, steps: [] };
const EMPTY_LIVE = {
  ...EMPTY_RUN,
  woken: false,
  scheduled: 0,
  approvals: {},
  timers: {},
  lost: 0,
  children: [],
  childCount: 0,
  waits: {},
  watchers: [],
};
const EMPTY_ENDED = { ...EMPTY_RUN, settling: null };

function emptyOf(status: RunState["status"]): object {
  if (status === "absent" || status === "forgotten") return {};
  return status === "pending" || status === "running" ? EMPTY_LIVE : EMPTY_ENDED;
}

export const storedRun: StoredState<RunState> = {
  write(state) {
    const empty = emptyOf(state.status) as Record<string, unknown>;
    const isLeftOut = ([field, value]: [string, unknown]) => field in empty && isDeepStrictEqual(value, empty[field]);
    return Object.fromEntries(Object.entries(state).filter((entry) => !isLeftOut(entry)));
  },
  read(stored) {
    const state = stored as RunState;
    return { ...emptyOf(state.status), ...state };
  },
};
