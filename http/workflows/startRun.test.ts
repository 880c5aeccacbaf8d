import { describe, expect, it } from "vitest";
import { Envelope } from "#events/workflow.ts";
import type { Http } from "../base/deps.ts";
import { startRun } from "./startRun.ts";

const workflow = {
  id: "w1",
  organization_id: "o1",
  project_id: null,
  definition_id: "0198c0de-0000-7000-8000-00000000000d",
  definition_version: 1,
  enabled: true,
  envelope: Envelope.parse({}),
};
const request = {
  request: { id: "r1" } as never,
  body: "h",
  principal: "key:k1" as const,
  path: "/w1/runs",
  key: undefined,
  args: { text: "x".repeat(40_000) },
  started_by: { type: "api_key" as const, id: "k1" },
  trigger_id: null,
  run_as: { type: "service" as const, id: null },
  external_user_id: null,
};

/** Starts a run whose command was delivered before; the first delivery created `createdRun(run_id)`. */
async function startRepeated(createdRun: (run: string) => string) {
  let run = "";
  let fingerprint = "";
  const removed: string[] = [];
  const http = {
    db: {
      query: async (sql: string) => {
        if (sql.includes("definition_versions")) return [{ name: '"w"', meta: '{"parameters":{}}' }];
        throw new Error(`unexpected query: ${sql}`);
      },
    },
    outcomes: {
      find: async () => ({ fingerprint, rejection: null, event: { stream: `run-${createdRun(run)}`, position: 1 } }),
    },
    budgets: { admit: async () => ({ admitted: { settle: () => {}, withdraw: () => {}, reached: () => undefined } }) },
    schemas: { check: async () => undefined },
    vault: { createKey: () => "key", put: async ({ folder }: { folder: string }) => `${folder}/1` },
    blobs: { remove: async (blob: string) => removed.push(blob) },
    send: async (_: unknown, command: { data: { run_id: string }; fingerprint: string }) => {
      run = command.data.run_id;
      fingerprint = command.fingerprint;
      return { repeated: true, position: 1, projected: true };
    },
  };
  return { started: await startRun(http as unknown as Http, workflow, request), run, removed };
}

describe("starting a run whose command was answered before", () => {
  it("gives its own run with its arguments when the bus delivered the command twice", async () => {
    const { started, run, removed } = await startRepeated((own) => own);
    expect([started, removed]).toEqual([run, []]);
  });

  it("gives the run of the earlier request and deletes the stored arguments", async () => {
    const { started, run, removed } = await startRepeated(() => "another");
    expect([started, removed]).toEqual(["another", [`o1/run-${run}/1`]]);
  });
});

describe("repeating a retry", () => {
  const inheritance = { run_id: "retry", starter: undefined, parent: {} as never, calls: async function* () {} };
  const startWhile = (recorded: string[]) => {
    const http = { log: { publicData: async (stream: string) => (recorded.includes(stream) ? {} : undefined) } };
    return startRun(http as unknown as Http, { ...workflow, enabled: false }, { ...request, inheritance });
  };

  it("gives the run of the first one, even if the workflow can start no run now", async () => {
    expect(await startWhile(["run-retry"])).toBe("retry");
  });

  it("is refused for a run that was not retried", async () => {
    await expect(startWhile([])).rejects.toMatchObject({ errorCode: "workflow_disabled" });
  });
});
