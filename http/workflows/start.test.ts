import { expect, test } from "vitest";
import { Envelope } from "#events/workflow.ts";
import type { Http } from "../deps.ts";
import { startRun } from "./start.ts";

const workflow = {
  id: "w1",
  organization_id: "o1",
  project_id: null,
  definition_id: "0198c0de-0000-7000-8000-00000000000d",
  definition_version: 1,
  enabled: true,
  envelope: Envelope.parse({}),
};
const asked = {
  request: { id: "r1", bodyHash: "h" } as never,
  principal: "key:k1" as const,
  path: "/w1/runs",
  key: undefined,
  args: { text: "x".repeat(40_000) },
  started_by: { type: "api_key" as const, id: "k1" },
  trigger_id: null,
  run_as: { type: "service" as const, id: null },
  external_user_id: null,
};

/** The answer to a command that had been answered before: what stands in the log under its id is `made`. */
async function repeated(made: (run: string) => string) {
  let run = "";
  const removed: string[] = [];
  const http = {
    db: {
      query: async (sql: string) => {
        if (sql.includes("definition_versions")) return [{ name: '"w"', meta: '{"parameters":{}}' }];
        return [{ stream: `run-${made(run)}`, position: 1 }];
      },
    },
    keyring: { create: () => "key", sealLarge: async (_: string, _key: string, plain: Buffer) => plain },
    blobs: { put: async (folder: string) => `${folder}/1`, removeAll: async (folder: string) => removed.push(folder) },
    send: async (_: unknown, { data }: { data: { run_id: string } }) => {
      run = data.run_id;
      return { repeated: true, position: 1, followed: true };
    },
  };
  return { started: await startRun(http as unknown as Http, workflow, asked), run, removed };
}

test("a start that the bus delivered twice is the run that it made, with its arguments", async () => {
  const { started, run, removed } = await repeated((own) => own);
  expect([started, removed]).toEqual([run, []]);
});

test("a start that another request has made leaves nothing behind", async () => {
  const { started, run, removed } = await repeated(() => "another");
  expect([started, removed]).toEqual(["another", [`o1/run-${run}`]]);
});
