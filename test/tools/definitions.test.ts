import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openDesk, toolSource } from "./desk.ts";

/* /api/definitions: every save is an immutable version, validated before it is stored. */

const desk = await openDesk();

let count = 0;
const createDefinition = async (source = toolSource("return 1"), more: object = {}) => {
  const { status, body, text } = await desk.define(source, { name: `tool_${count++}`, ...more });
  if (status !== 201) throw new Error(text);
  return body;
};
const versions = async (id: string) => (await desk.person("GET", `/definitions/${id}/versions`)).body;

describe("a definition", () => {
  const source = `export const meta = {
  description: "Adds",
  parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
  secrets: ["shop_key"],
};
type Args = { a: number };
export async function execute(args: Args): Promise<number> { return args.a as number; }
`;

  test("is created from TypeScript or JavaScript, and shows its source unchanged", async () => {
    const body = await createDefinition(source, { name: "add", grants: ["shop_key"] });
    expect(body).toMatchObject({
      type: "tool",
      name: "add",
      version: 1,
      description: "Adds",
      parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
      secrets: ["shop_key"],
      grants: ["shop_key"],
      source,
    });
    expect((await desk.person("GET", `/definitions/${body.id}`)).body).toEqual(body);
    const plain = await createDefinition("export function execute() { return 1 }", { name: "plain" });
    expect(plain).toMatchObject({ description: "", parameters: { type: "object", properties: {} }, secrets: [] });
    const { body: list } = await desk.person("GET", "/definitions?type=tool&limit=1");
    expect(list).toMatchObject({ total: expect.any(Number), limit: 1, offset: 0, data: [{ name: "add" }] });
    expect(list.data[0].source).toBeUndefined();
    expect((await desk.person("GET", "/definitions?type=workflow")).body.data).toEqual([]);
  });

  test("shows which secrets the tool may read, and who may read its results", async () => {
    const body = await createDefinition(source, { grants: ["shop_key"] });
    const secret = { name: "shop_key", workflow_id: null, workflow_name: null };
    const results = { roles: ["owner", "admin"], api_keys: false, webhooks: false, models: true };
    expect(body.access).toEqual({ secrets: [secret], results });
    const { body: saved } = await desk.person("PATCH", `/definitions/${body.id}`, { grants: [] });
    expect(saved.access.secrets).toEqual([]);
  });

  test("keeps unusual characters and names in texts and schemas", async () => {
    const description = "NUL \u0000, half a pair \ud800, \u202e and \u{1f600}";
    const parameters = { type: "object", properties: { constructor: { type: "string" }, "a b": { type: ["null"] } } };
    const body = await createDefinition(toolSource("return 1", { description, parameters }));
    expect(body).toMatchObject({ description });
    expect(JSON.stringify(body.parameters)).toBe(JSON.stringify(parameters));
    expect((await desk.person("GET", `/definitions/${body.id}`)).body).toEqual(body);
  });

  test("gets a new version with each save, and old versions stay unchanged", async () => {
    const { id } = await createDefinition(toolSource("return 1"), { name: "saved" });
    const second = await desk.person("PATCH", `/definitions/${id}`, { source: toolSource("return 2") });
    expect(second.body).toMatchObject({ version: 2, name: "saved", source: toolSource("return 2") });
    expect((await desk.person("PATCH", `/definitions/${id}`, {})).body).toMatchObject({ version: 3 });
    const { data, total } = await versions(id);
    expect(total).toBe(3);
    expect(data.map(({ version, source: kept }: any) => [version, kept])).toEqual(
      expect.arrayContaining([
        [1, toolSource("return 1")],
        [2, toolSource("return 2")],
        [3, toolSource("return 2")],
      ]),
    );
    expect(data[0].created_by).toMatch(/^person:/);
    expect((await desk.person("GET", `/definitions/${id}/versions?limit=1&offset=1`)).body.data).toHaveLength(1);
  });

  test("is not found after its deletion, and its name is free again", async () => {
    const { id } = await createDefinition(toolSource("return 1"), { name: "gone" });
    expect((await desk.person("DELETE", `/definitions/${id}`)).status).toBe(204);
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["GET", "/versions"],
    ] as const)
      expectRefusal(
        await desk.person(method, `/definitions/${id}${path}`, method === "PATCH" ? {} : undefined),
        404,
        "definition_not_found",
        "id",
      );
    expect((await createDefinition(toolSource("return 2"), { name: "gone" })).version).toBe(1);
  });
});

describe("the name of a definition", () => {
  test("is unique for its type, and free after a rename", async () => {
    const { id } = await createDefinition(toolSource("return 1"), { name: "first_name" });
    expectRefusal(await desk.define(toolSource(""), { name: "first_name" }), 409, "definition_exists", "name");
    const workflow = await desk.define("export async function run() {}", { type: "workflow", name: "first_name" });
    expect(workflow.status).toBe(201);
    expect((await desk.person("PATCH", `/definitions/${id}`, { name: "second_name" })).body).toMatchObject({
      name: "second_name",
      version: 2,
    });
    const other = await createDefinition(toolSource("return 1"), { name: "first_name" });
    expectRefusal(
      await desk.person("PATCH", `/definitions/${other.id}`, { name: "second_name" }),
      409,
      "definition_exists",
      "name",
    );
    expect((await desk.person("GET", `/definitions/${other.id}`)).body).toMatchObject({
      name: "first_name",
      version: 1,
    });
  });

  test("is unique in its organization only", async () => {
    await createDefinition(toolSource("return 1"), { name: "shared_name" });
    const stranger = await desk.signIn(await desk.service.organization("Other"));
    const body = { type: "tool", name: "shared_name", source: toolSource("") };
    expect((await stranger("POST", "/definitions", body)).status).toBe(201);
  });

  test("can come from the script, and must not differ from the script", async () => {
    const { body } = await desk.define(toolSource("", { name: "own_name" }));
    expect(body).toMatchObject({ name: "own_name" });
    expectRefusal(await desk.define(toolSource("", { name: "one" }), { name: "two" }), 400, "invalid_name", "name");
    expectRefusal(await desk.define(toolSource("")), 400, "missing_name", "name");
    const path = `/definitions/${body.id}`;
    expectRefusal(await desk.person("PATCH", path, { name: "other" }), 400, "invalid_name", "name");
    expect((await desk.person("PATCH", path, { source: toolSource("", { name: "new_name" }) })).body.name).toBe(
      "new_name",
    );
    expect((await desk.person("PATCH", path, { source: toolSource("") })).body.name).toBe("new_name");
  });

  test("is valid for every provider, and differs from the built-in tools", async () => {
    for (const name of ["", "a b", "1a", "ä", "a".repeat(65), "a.b"])
      expect((await desk.define(toolSource(""), { name })).status).toBe(400);
    expectRefusal(await desk.define(toolSource("", { name: "a b" })), 400, "invalid_definition", "source");
    for (const name of ["web_search", "web_fetch", "search_documents", "read_document"])
      expectRefusal(await desk.define(toolSource(""), { name }), 400, "invalid_name", "name");
  });
});

describe("a definition is refused with the position of the error for", () => {
  const schema = (parameters: unknown) => toolSource("", { parameters });
  test.each<[string, string, RegExp]>([
    ["a syntax error", "export const meta = {};\nexport function execute( {", /line \d+, column \d+/],
    ["a syntax error in JavaScript", "export function execute() {}\nlet a = 1; let a = 2;", /\(line 2, column 16\)/],
    ["an enum", "export enum Kind { A }\nexport function execute() {}", /enum.*\(line 1, column 8\)/],
    ["a namespace", "export function execute() {}\nnamespace A { export const b = 1 }", /\(line 2, column 1\)/],
    [
      "a parameter property",
      "export function execute() {}\nclass A { constructor(private b: number) {} }",
      /\(line 2, column \d+\)/,
    ],
    [
      "meta that is not an object",
      "\nexport const meta = 5; export function execute() {}",
      /meta: .*\(line 2, column 14\)/,
    ],
    [
      "a description that is not a text",
      toolSource("", { description: 5 }),
      /meta\.description: .*\(line 1, column 22\)/,
    ],
    [
      "secrets that are not names",
      toolSource("", { secrets: ["a b"] }),
      /meta\.secrets\.0: is not the name of a secret/,
    ],
    [
      "an unknown field of meta",
      "export const meta = {\n  descripton: 'A tool',\n};\nexport function execute() {}",
      /meta\.descripton: is unknown; .*\(line 2, column 3\)/,
    ],
    ["another type", toolSource("", { type: "workflow" }), /meta\.type is workflow/],
    ["parameters of another type", schema({ type: "string" }), /meta\.parameters\.type: must be "object"/],
    ["parameters without a type", schema({}), /meta\.parameters\.type: must be "object"/],
    [
      "a choice at the top",
      schema({ type: "object", anyOf: [] }),
      /meta\.parameters\.anyOf: is not allowed at the top/,
    ],
    [
      "properties that are not schemas",
      schema({ type: "object", properties: { a: 5 } }),
      /meta\.parameters\.properties\.a: must be a schema/,
    ],
    [
      "a type that does not exist",
      schema({ type: "object", properties: { a: { type: "text" } } }),
      /properties\.a\.type: is not a type of JSON Schema/,
    ],
    [
      "required that is not a list",
      schema({ type: "object", required: "a" }),
      /meta\.parameters\.required: must be a list/,
    ],
    ["no execute", "export const meta = {};", /A tool exports a function execute/],
    ["execute that is not a function", "export const execute = 5;", /A tool exports a function execute/],
    ["an import", 'import fs from "node:fs";\nexport function execute() {}', /imports nothing: node:fs/],
    [
      "code that throws at the top",
      "\nthrow new Error('no');\nexport function execute() {}",
      /no \(line 2, column 11\)/,
    ],
    ["a loop at the top", "for (;;) {}\nexport function execute() {}", /computed for longer/],
    ["an endless wait at the top", "await new Promise(() => {});\nexport function execute() {}", /never settles/],
    [
      "a large meta",
      "export const meta = { description: 'x'.repeat(2e6) };\nexport function execute() {}",
      /larger than 1 MiB/,
    ],
    [
      "a schema that nests very deep",
      `const parameters = { type: "object" };
       for (let n = 0, at = parameters; n < 3_000; n++) at = (at.default = {});
       export const meta = { parameters };
       export function execute() {}`,
      /meta\.parameters: nests deeper/,
    ],
  ])("%s", async (_, source, message) => {
    const refused = await desk.define(source, { name: `refused_${count++}` });
    expectRefusal(refused, 400, "invalid_definition", "source");
    expect(refused.body.error.message).toMatch(message);
  });

  test("schemas that are nested too deep or too long", async () => {
    let deep: object = { type: "string" };
    for (let n = 0; n < 30; n++) deep = { type: "object", properties: { a: deep } };
    for (const [parameters, message] of [
      [deep, /nests deeper/],
      [{ type: "object", properties: { a: { type: "string", description: "x".repeat(40_000) } } }, /longer than/],
    ] as const) {
      const { status, body } = await desk.define(schema(parameters), { name: `deep_${count++}` });
      expect([status, body.error.code]).toEqual([400, "invalid_definition"]);
      expect(body.error.message).toMatch(message);
    }
  });

  test("a save, which leaves the stored version unchanged", async () => {
    const { id } = await createDefinition(toolSource("return 1"));
    expectRefusal(await desk.person("PATCH", `/definitions/${id}`, { source: "export {" }), 400, "invalid_definition");
    expect((await desk.person("GET", `/definitions/${id}`)).body).toMatchObject({
      version: 1,
      source: toolSource("return 1"),
    });
  });

  test("a source or a request body over its limit", async () => {
    const long = `${toolSource("return 1")}// ${"x".repeat(262_144)}`;
    expectRefusal(await desk.define(long, { name: "long" }), 400, undefined, "source");
    expectRefusal(await desk.define("x".repeat(1_100_000), { name: "long" }), 413, "request_too_large");
    expectRefusal(await desk.define("", { name: "empty" }), 400, undefined, "source");
  });
});

describe("the grants of a definition", () => {
  test("can name only secrets that the script declares", async () => {
    const source = toolSource("", { secrets: ["a", "b"] });
    expectRefusal(
      await desk.define(source, { name: "granted", grants: ["a", "c"] }),
      400,
      "unknown_grant",
      "grants[1]",
    );
    const { id, grants } = await createDefinition(source, { name: "granted", grants: ["a", "b", "a"] });
    expect(grants).toEqual(["a", "b"]);
    const path = `/definitions/${id}`;
    expectRefusal(await desk.person("PATCH", path, { grants: ["c"] }), 400, "unknown_grant", "grants[0]");
    expect((await desk.person("PATCH", path, { source: toolSource("", { secrets: ["b"] }) })).body.grants).toEqual([
      "b",
    ]);
    expect((await desk.person("PATCH", path, { grants: [] })).body.grants).toEqual([]);
  });
});

describe("one idempotency key", () => {
  test("creates one definition for two requests", async () => {
    const body = { type: "tool", name: "once", source: toolSource("return 1") };
    const headers = { "idempotency-key": "once-1" };
    const [first, second] = [
      await desk.person("POST", "/definitions", body, headers),
      await desk.person("POST", "/definitions", body, headers),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expectRefusal(
      await desk.person("POST", "/definitions", { ...body, name: "twice" }, headers),
      422,
      "idempotency_key_reused",
    );
  });
});

test("a definition with a malformed id is not found", async () =>
  expectRefusal(await desk.person("GET", "/definitions/not-a-uuid"), 404, "definition_not_found", "id"));
