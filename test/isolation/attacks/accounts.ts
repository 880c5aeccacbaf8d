import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../attacker.ts";
import { falseWebp, hugePng, manyFrames } from "../pictures.ts";
import { all, HOLD_MS, many, type Attack } from "./attack.ts";

/* Pictures, schedules, and what owners set: prices, budgets, aliases, erasures, tools of the caller's own. */

const HUGE = "9".repeat(400);

const deepSchema = (depth: number): object => {
  let schema: object = { type: "string" };
  for (let n = 0; n < depth; n++) schema = { type: "object", properties: { a: schema, b: { enum: many(20, String) } } };
  return schema;
};

export const accounts: Attack[] = [
  {
    title: "pictures of 30,000 by 30,000 pixels, of 10,000 frames, and with a false size",
    async run(attacker) {
      const pictures: [string, Uint8Array<ArrayBuffer>][] = [
        ["huge.png", hugePng(30_000)],
        ["frames.tiff", manyFrames(10_000)],
        ["false.webp", falseWebp()],
      ];
      return Promise.all(
        pictures.flatMap(([name, bytes]) =>
          many(2, (n) => {
            const form = new FormData();
            // other bytes each time: identical ones are read once
            form.append("file", new Blob([bytes, new Uint8Array([n])]), name);
            return attacker.send("POST", "/api/v1/extractions", form);
          }),
        ),
      );
    },
  },
  {
    title: "100 schedules that are due every second",
    async run(attacker) {
      const source = "export async function run(ctx) { return ctx.complete(1); }";
      const definition = await attacker.create("/api/definitions", { type: "workflow", name: "every_second", source });
      const workflow = await attacker.create("/api/workflows", { definition_id: definition.id });
      const path = `/api/workflows/${workflow.id}/triggers`;
      const made = await all(100, () => attacker.owner("POST", path, { schedule: { every: 1 } }));
      await sleep(HOLD_MS);
      const removed = made.filter(({ status }) => status === 201);
      await Promise.all(removed.map(({ body }) => attacker.owner("DELETE", `${path}/${body.id}`)));
      return made;
    },
  },
  {
    title: "prices and budgets with numbers of 400 digits, and 20 prices of each of 100 models",
    mustAnswer: { 400: 60 },
    async run(attacker) {
      const price = { input: "0.000001", output: "999999" };
      const prices = many(20, (n) => ({ ...price, valid_from: new Date(Date.UTC(2020 + n, 0)).toISOString() }));
      return [
        ...(await all(20, (n) =>
          attacker.owner("PUT", `/api/prices/offline/m${n}`, { prices: [{ input: HUGE, output: `1e${n}99` }] }),
        )),
        ...(await all(20, () => attacker.owner("PUT", "/api/budgets/organization", { cost_per_day: HUGE }))),
        ...(await all(20, () =>
          attacker.owner("PUT", "/api/budgets/organization", `{"tokens_per_day":${HUGE},"tokens_per_month":1e999}`),
        )),
        ...(await all(100, (n) => attacker.owner("PUT", `/api/prices/offline/m${n}`, { prices }))),
        ...(await all(100, () => attacker.owner("GET", "/api/prices?limit=500"))),
      ];
    },
  },
  {
    title: "aliases that name aliases, themselves and one model eight times",
    mustAnswer: { 400: 140 },
    async run(attacker) {
      const set = (alias: string, targets: string[]): Promise<Answer> =>
        attacker.owner("PUT", `/api/aliases/${alias}`, { targets: targets.map((model) => ({ model })) });
      const circles = [...(await all(20, (n) => set(`a${n}`, [`a${n}`, `a${n + 1}`])))];
      const made = await all(120, (n) =>
        set(
          `b${n}`,
          many(8, () => "offline/scripted"),
        ),
      );
      const turns = await all(50, (n) => attacker.turn("/fail 503", { model: `b${n}` }));
      return [...circles, ...made, ...turns];
    },
  },
  {
    title: "128 tools of the caller's own with deep schemas, twenty times",
    async run(attacker) {
      await attacker.owner("PATCH", `/api/agents/${attacker.agent_id}`, { client_tools: true });
      const tools = many(128, (n) => ({ type: "function", name: `tool_${n}`, parameters: deepSchema(12) }));
      const more = { input: "hello", tools };
      return all(20, () => attacker.send("POST", `/api/agents/${attacker.agent_id}/v1/responses`, more));
    },
  },
  {
    title: "200 erasures of no key, 300 unknown hooks, and usage of years as CSV",
    async run(attacker) {
      const year = "from=2000-01-01T00:00:00Z&group_by=day&format=csv";
      return [
        ...(await all(200, () => attacker.owner("POST", "/api/erasures", { owner: `key:${randomUUID()}` }))),
        ...(await all(300, (n) =>
          attacker.send("POST", `/api/workflows/hooks/${"h".repeat(n)}`, { big: "x".repeat(50_000) }),
        )),
        ...(await all(50, () => attacker.owner("GET", `/api/usage?${year}`))),
      ];
    },
  },
  {
    title: "100 exports of everything that a key has",
    mustAnswer: { 429: 90 },
    async run(attacker) {
      const { body } = await attacker.owner("GET", "/api/keys");
      return all(100, () => attacker.owner("GET", `/api/exports?subject=key:${body.data[0].id}`));
    },
  },
  {
    title: "500 pages of the documentation and its search index",
    run: (attacker) =>
      all(500, (n) =>
        attacker.send(
          "GET",
          ["/docs/", "/docs/workflows", `/docs/none/${n}`, "/docs/search.json", "/console/"][n % 5]!,
        ),
      ),
  },
];
