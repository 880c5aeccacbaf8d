import { expect, test } from "vitest";
import { settleRun, type SettleDeps } from "./settleRun.ts";

const head = { stream: "run-parent", organization_id: "o", version: 5 } as never;
const settling = { cancel: ["child"], unstarted: ["child"], notify: [] };

/** Dependencies for a parent run that has just ended, with a child run that is in the log from the second look on. */
function openDeps() {
  const sent: string[] = [];
  let looks = 0;
  const deps = {
    log: {
      heads: async ([stream]: string[]) => new Map(++looks > 1 ? [[stream, { stream, organization_id: "o" }]] : []),
      read: async () => [],
      event: async () => ({ type: "RunFilesLeft" }),
      readNewest: async () => [{ type: "RunCancelled", recorded_at: new Date(), personal: {} }],
    },
    send: async ({ stream }: { stream: string }, type: string) => {
      sent.push(`${type} ${stream}`);
      return {};
    },
  } as unknown as SettleDeps;
  return { deps, sent };
}

test("a run is settled only after a child run that has just started is cancelled", async () => {
  const { deps, sent } = openDeps();
  await settleRun(deps, head, settling);
  expect(sent).not.toContain("SettleRun run-parent");
  await settleRun(deps, head, settling);
  expect(sent.at(-1)).toBe("SettleRun run-parent");
  expect(sent.slice(0, -1)).toContain("CancelRun run-child");
});

test("a run is settled only after a child run that is to outlive it has started, so that an erasure finds it", async () => {
  const { deps, sent } = openDeps();
  const left = { cancel: [], unstarted: ["child"], notify: [] };
  await settleRun(deps, head, left);
  expect(sent).toEqual([]);
  await settleRun(deps, head, left);
  expect(sent).toEqual(["SettleRun run-parent"]);
});
