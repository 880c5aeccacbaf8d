import { setTimeout as sleep } from "node:timers/promises";
import { afterFile } from "../../cleanUp.ts";
import { startLoopback } from "../../doubles/loopback.ts";
import type { Attacker } from "../attacker.ts";
import { all, many, type Attack } from "./attack.ts";

/* Things of which each is small, and which are slow together. */

const MAX_PROVIDERS = 50;
const LISTED_MODELS = 5_000;
const SCHEDULES = 90;
const STEP_BATCHES = 10;

const newName = (): string => `crowd_${Math.random().toString(36).slice(2)}`;

async function register(attacker: Attacker, source: string): Promise<string> {
  const definition = await attacker.create("/api/definitions", { type: "workflow", name: newName(), source });
  const { id } = await attacker.create("/api/workflows", {
    definition_id: definition.id,
    limits: { max_steps: 10_000, max_parallel: 50 },
  });
  return id as string;
}

async function configureProviders(attacker: Attacker): Promise<void> {
  const body = JSON.stringify({ data: many(LISTED_MODELS, (n) => ({ id: `model-${n}`, created: n, owned_by: "me" })) });
  const server = await startLoopback(
    (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(body),
  );
  afterFile(() => server.close());
  const settings = { api_key: "k", base_url: server.origin };
  await all(MAX_PROVIDERS, (n) => attacker.owner("PUT", `/api/providers/crowd${n}`, settings));
}

const FAILING = `export const steps = { no: async () => { throw new Error("no"); } };
export async function run(ctx) {
  const batches = Array.from({ length: ${STEP_BATCHES} }, (_, b) =>
    ctx.runStepMany("no", Array.from({ length: 1000 }, (_, n) => ({ b, n })), { onError: "return", concurrency: 50 }));
  await Promise.all(batches);
  return ctx.complete(1);
}`;

export const crowds: Attack[] = [
  {
    title: "a 51st provider beside 50 that list 5,000 models each",
    mustAnswer: { 409: 1, 200: 20 },
    prepare: configureProviders,
    run: async (attacker) => [
      await attacker.owner("PUT", "/api/providers/one-more", { api_key: "k", base_url: "http://127.0.0.1:9" }),
      ...(await all(20, () => attacker.send("GET", "/api/openai/v1/models"))),
    ],
  },
  {
    title: "pages of 90 schedules for a 29th of February that is a Monday",
    mustAnswer: { 200: 10 },
    async prepare(attacker) {
      const workflow = await register(attacker, "export async function run(ctx) { return ctx.complete(1); }");
      for (let n = 0; n < SCHEDULES; n++)
        await attacker.create(`/api/workflows/${workflow}/triggers`, {
          schedule: { cron: `${n % 60} ${Math.floor(n / 60)} 29 2 +MON`, time_zone: "Europe/Berlin" },
        });
    },
    run: (attacker) => all(10, () => attacker.owner("GET", "/api/workflows/schedules?limit=500")),
  },
  {
    title: "two runs of 10,000 steps that fail, read while they run",
    mustAnswer: { 202: 2 },
    async run(attacker) {
      const workflow = await register(attacker, FAILING);
      const started = await all(2, () => attacker.owner("POST", `/api/workflows/${workflow}/runs`, { args: {} }));
      const answers = [...started];
      for (let n = 0; n < 10; n++) {
        await sleep(500);
        for (const { body } of started)
          answers.push(await attacker.owner("GET", `/api/workflows/runs/${body.id}?steps=false`));
      }
      await all(2, (n) => attacker.owner("POST", `/api/workflows/runs/${started[n]!.body.id}/cancel`, {}));
      return answers;
    },
  },
];
