import { all, many, type Attack } from "./attack.ts";

/* JSON Schemas that cost much to check. */

const workflow = (meta: object): string =>
  `export const meta = ${JSON.stringify(meta)};\nexport async function run(ctx) { return ctx.complete(1); }`;

/** POSTs to a workflow whose arguments have this schema. Each is refused, or the schema itself. */
const schemaAttack = (title: string, schema: object, args: unknown, times = 1): Attack => ({
  title,
  mustAnswer: { 400: 1 },
  async run(attacker) {
    const hook = await attacker.hook(workflow({ args: schema })).catch((error: Error) => error);
    if (hook instanceof Error) return [{ status: 400, body: hook.message }];
    return all(times, () => attacker.send("POST", hook.url, args, { headers: hook.headers }));
  },
});

const json = (schema: object) => ({
  response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
});

/** `allOf` references that double the work at each level. */
const doubling = {
  type: "object",
  $defs: Object.fromEntries(
    many(40, (n) => [
      `d${n}`,
      n === 0 ? { type: "string" } : { allOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] },
    ]),
  ),
  properties: { a: { $ref: "#/$defs/d39" } },
  required: ["a"],
};

/** So many properties, each with a pattern of 1,000 characters. */
const patterned = (count: number) => ({
  type: "object",
  properties: Object.fromEntries(many(count, (n) => [`p${n}`, { pattern: ".".repeat(1_000) }])),
});

export const schemas: Attack[] = [
  schemaAttack(
    "arguments checked against 3,700 properties inside items",
    {
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { properties: Object.fromEntries(many(3_700, (n) => [`p${n}`, { type: "string" }])) },
        },
      },
    },
    { list: many(60_000, () => ({})) },
  ),
  schemaAttack(
    "a pattern that backtracks without end",
    { type: "object", properties: { word: { type: "string", pattern: "^(a+)+$" } } },
    { word: `${"a".repeat(40)}!` },
    40,
  ),
  schemaAttack(
    "an enum of 20,000 words against 20,000 values",
    { type: "object", properties: { list: { type: "array", items: { enum: many(20_000, (n) => `word ${n}`) } } } },
    { list: many(20_000, () => "no") },
  ),
  schemaAttack(
    "references that nest 2,000 deep",
    {
      type: "object",
      $defs: Object.fromEntries(
        many(2_000, (n) => [`d${n}`, { properties: { a: { $ref: `#/$defs/d${(n + 1) % 2_000}` } } }]),
      ),
      $ref: "#/$defs/d0",
    },
    JSON.parse(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`),
  ),
  {
    title: "a response format whose references double at each level",
    run: (attacker) => all(2, () => attacker.turn("go", json(doubling))),
  },
  {
    title: "2,400 patterns of 1,000 characters in a response format, and in tools of the caller's own",
    mustAnswer: { 400: 8 },
    async run(attacker) {
      await attacker.owner("PATCH", `/api/agents/${attacker.agent_id}`, { client_tools: true });
      const tools = many(24, (n) => ({ type: "function", name: `tool_${n}`, parameters: patterned(100) }));
      return [
        ...(await all(4, () => attacker.turn("go", json(patterned(2_400))))),
        ...(await all(4, () =>
          attacker.send("POST", `/api/agents/${attacker.agent_id}/v1/responses`, { input: "hello", tools }),
        )),
      ];
    },
  },
];
