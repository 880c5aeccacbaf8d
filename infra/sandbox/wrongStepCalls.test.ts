import { parse } from "acorn";
import { expect, test } from "vitest";
import { findWrongOptions } from "./wrongOptions.ts";

const inModule = (js: string) => findWrongOptions(parse(js, { ecmaVersion: "latest", sourceType: "module" }), js);
/** Faults in a step whose code starts at line 2, column 3. */
const found = (code: string) =>
  inModule(`export const steps = { one: defineStep({ retries: 1 }, async (args, ctx) => {\n  ${code};\n}) };`);
const SAID = `messages: [{ role: "user", content: "A" }]`;

test.each([
  [
    `await ctx.chat({ model: "a/b", ${SAID}, temprature: 1 })`,
    /^chat: temprature is not an option; there are model, messages, temperature, /,
    78,
  ],
  [`await ctx.chat({ model: "a/b", ${SAID}, max_tokens: -1 })`, /^chat: max_tokens: /, 90],
  [
    `await ctx.chat({ model: "a/b", messages: [{ role: "usr", content: args.a }] })`,
    /^chat: messages\[0\]\.role: /,
    53,
  ],
  [`await ctx.chat({ ${SAID} })`, /^chat: model: /, 18],
  [
    `await ctx.chat({ model: args.m, messages: [{ role: "system", content: "A" }] })`,
    /^chat: messages: must hold /,
    45,
  ],
  [`await ctx.chat("A")`, /^chat: /, 18],
  [
    `await ctx.chat({ model, messages, knowledge: { colections: [] } })`,
    /^chat: knowledge\.colections is not an option\.$/,
    50,
  ],
  [`await ctx.agents.run({ agent_id: "support", input: "A" })`, /^agents\.run: agent_id: /, 36],
  [`await ctx.agents.run({ agent: args.id, input: "A" })`, /^agents\.run: agent is not an option; there are /, 26],
  [`await ctx.knowledge.search({ query: "A", limit: 100 })`, /^knowledge\.search: limit: /, 51],
  [`await ctx.knowledge.search({ q: "A", ...args })`, /^knowledge\.search: q is not an option; there are query, /, 32],
  [`await ctx.knowledge.read({ document_id: args.id, from: 2 })`, /^knowledge\.read: from is not an option/, 52],
  [`await ctx.tools.call("", {})`, /^tools\.call: name: /, 24],
  [`await ctx.tools.call("add", [1, 2])`, /^tools\.call: args: must be an object\.$/, 31],
  [`await ctx.secrets.get("shop-key")`, /^secrets\.get: is not the name of a secret\.$/, 25],
  [`await ctx.secret.get("shop_key")`, /^ctx\.secret does not exist; there are agents\.run, chat, fetch, /, 9],
  [`await ctx.agents.start({})`, /^ctx\.agents\.start does not exist; there are agents\.run, /, 9],
  [`await ctx.Chat({})`, /^ctx\.Chat does not exist; /, 9],
  [`await ctx.fetch("ftp://a.example/x")`, /^fetch: the address must be /, 19],
  [`await ctx.fetch(args.url, { methd: "POST" })`, /^fetch: methd is not an option; there are method, /, 31],
  [`await ctx.fetch(args.url, { method: "post" })`, /^fetch: method: must be one of GET, /, 39],
  [`await ctx.fetch(args.url, { method: "POST", body: { a: args.a } })`, /^fetch: body: must be a string; /, 53],
])("a step that calls %s is refused", (code, message, column) => {
  const [first, ...more] = found(code);
  expect(first).toEqual({ message: expect.stringMatching(message), line: 2, column });
  expect(more).toEqual([]);
});

test.each([
  `await ctx.chat({ model: args.model, ${SAID}, temperature: 0.5, stop: ["a", args.b], tool_choice: args.choice })`,
  `await ctx.chat({ model: "a/b", messages: [{ role: args.role, content: args.text }] })`,
  `await ctx.chat({ ...args.settings, ${SAID} })`,
  `await ctx.chat({ temperature: "low", model: 1, ...args.settings })`,
  `await ctx.chat({ ${SAID}, ["model"]: "a/b" })`,
  `await ctx.chat({ model: "a/b", messages: [...args.earlier, { role: "assistant", content: "A" }] })`,
  `await ctx.chat({ model: "a/b", ${SAID}, response_format: { type: "json_schema", json_schema: { name: "a", schema } } })`,
  "await ctx.chat(args.input)",
  `await ctx.agents.run({ agent_id: args.id, input: args.question, vars: { a: args.b } })`,
  `await ctx.agents.run({ agent_id: "0198f000-0000-7000-8000-000000000000", input: [{ role: "user", content: "A" }] })`,
  `await ctx.knowledge.search({ query: \`about \${args.topic}\`, tags: [args.tag], limit: 3 })`,
  `await ctx.tools.call(args.tool, args.args); await ctx.tools.call("now")`,
  `await ctx.secrets.get("shop_key"); await ctx.secrets.get(args.name)`,
  `await ctx.fetch("https://a.example/x", { method: "POST", headers: { a: "b" }, body: JSON.stringify({}) })`,
  `await ctx.fetch(\`https://\${args.host}/\`, { method: args.method, body: args.body, ...args.more })`,
  `await other.chat({ whatever: 1 }); await args.fetch("no address")`,
  `args.items.map((ctx) => 1); ((other) => { const chat = 1; })()`,
])("what may work is not refused: %s", (code) => expect(found(code)).toEqual([]));

test.each([
  ["a step with another name for its context", 'export const steps = { one: (args, c) => c.fetch("x:") };'],
  ["a step that takes its context apart", 'export const steps = { one: (args, { fetch: get }) => get("x:") };'],
  ["a step that takes a part apart", "export const steps = { one: (_, { agents: { run } }) => run({}) };"],
  ["a method that is a step", 'export const steps = { async one(args, ctx) { await ctx.fetch("x:"); } };'],
  ["a step that stands elsewhere", 'const one = defineStep({}, async (args, c) => c.fetch("x:"));'],
  ["a function that gets a context", 'const look = async (ctx, path) => ctx.fetch("x:");'],
  ["a function in a step", 'export const steps = { one: (args, c) => args.map((item) => c.fetch("x:")) };'],
])("a wrong call is found in %s", (_, js) => expect(inModule(js).length).toBeGreaterThan(0));

test("a name that a function in a step declares again is not the context", () => {
  expect(inModule('export const steps = { one: (args, c) => args.map((c) => c.fetch("x:")) };')).toEqual([]);
});

test.each(["export async function run(ctx, args) {", "export const run = async (context, args) => {"])(
  "a function that run() does not have is refused: %s",
  (start) => {
    const ctx = start.includes("context") ? "context" : "ctx";
    expect(inModule(`${start}\n  await ${ctx}.runSteps("a");\n}`)).toEqual([
      {
        message: expect.stringMatching(/^ctx\.runSteps does not exist; there are agent, awaitApproval, /),
        line: 2,
        column: 9,
      },
    ]);
  },
);

test.each([
  `export const steps = { a: (args, ctx) => ctx.runId.slice(0, 8) + ctx.runAs.type.toUpperCase() };`,
  `export function run(ctx) { return ctx.args.name.trim() + ctx.headers["x"].trim(); }`,
  `export const draw = (ctx) => ctx.fillRect(0, 0);`,
  `export function run(ctx) { return ctx.uuid("a") + ctx.now("b"); }`,
])("a module that only looks like wrong calls is accepted: %s", (js) => expect(inModule(js)).toEqual([]));
