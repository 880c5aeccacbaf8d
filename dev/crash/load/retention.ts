import { perform, type Action } from "./session.ts";

/** Sets how many days the organization keeps things. Nothing in a run is that old. */
export async function setRetention(action: Action, token: string): Promise<void> {
  const days = `${action.random.int(1, 30)}d`;
  await perform(action, {
    what: "retention.set",
    asked: { days },
    wanted: {
      method: "PUT",
      path: "/api/retention/organization",
      token,
      body: { threads: days, turns: days, files: days, documents: days, runs: days },
    },
  });
}
