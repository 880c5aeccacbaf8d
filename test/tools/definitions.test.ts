import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openDesk, toolOf, type Desk } from "./desk.ts";

/* /api/definitions (decisions: accounts): every save an immutable version, checked before it is kept. */

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});

let count = 0;
const made = async (source = toolOf("return 1"), more: object = {}) => {
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

  test("is made from TypeScript or JavaScript, and shown as it was written", async () => {
    const body = await made(source, { name: "add", grants: ["shop_key"] });
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
    const plain = await made("export function execute() { return 1 }", { name: "plain" });
    expect(plain).toMatchObject({ description: "", parameters: { type: "object", properties: {} }, secrets: [] });
    const { body: list } = await desk.person("GET", "/definitions?type=tool&limit=1");
    expect(list).toMatchObject({ total: expect.any(Number), limit: 1, offset: 0, data: [{ name: "add" }] });
    expect(list.data[0].source).toBeUndefined();
    expect((await desk.person("GET", "/definitions?type=workflow")).body.data).toEqual([]);
  });

  test("keeps what text and schemas may hold", async () => {
    const description = "NUL \u0000, half a pair \ud800, \u202e and \u{1f600}";
    const parameters = { type: "object", properties: { constructor: { type: "string" }, "a b": { type: ["null"] } } };
    const body = await made(toolOf("return 1", { description, parameters }));
    expect(body).toMatchObject({ description });
    expect(JSON.stringify(body.parameters)).toBe(JSON.stringify(parameters));
    expect((await desk.person("GET", `/definitions/${body.id}`)).body).toEqual(body);
  });

  test("has a version for each save, and none of them changes", async () => {
    const { id } = await made(toolOf("return 1"), { name: "saved" });
    const second = await desk.person("PATCH", `/definitions/${id}`, { source: toolOf("return 2") });
    expect(second.body).toMatchObject({ version: 2, name: "saved", source: toolOf("return 2") });
    expect((await desk.person("PATCH", `/definitions/${id}`, {})).body).toMatchObject({ version: 3 });
    const { data, total } = await versions(id);
    expect(total).toBe(3);
    expect(data.map(({ version, source: kept }: any) => [version, kept])).toEqual(
      expect.arrayContaining([
        [1, toolOf("return 1")],
        [2, toolOf("return 2")],
        [3, toolOf("return 2")],
      ]),
    );
    expect(data[0].created_by).toMatch(/^person:/);
    expect((await desk.person("GET", `/definitions/${id}/versions?limit=1&offset=1`)).body.data).toHaveLength(1);
  });

  test("is gone when it is deleted, and its name is free", async () => {
    const { id } = await made(toolOf("return 1"), { name: "gone" });
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
    expect((await made(toolOf("return 2"), { name: "gone" })).version).toBe(1);
  });
});

describe("names", () => {
  test("are taken once for each type, and given back by a rename", async () => {
    const { id } = await made(toolOf("return 1"), { name: "first_name" });
    expectRefusal(await desk.define(toolOf(""), { name: "first_name" }), 409, "definition_exists", "name");
    const workflow = await desk.define("export async function run() {}", { type: "workflow", name: "first_name" });
    expect(workflow.status).toBe(201);
    expect((await desk.person("PATCH", `/definitions/${id}`, { name: "second_name" })).body).toMatchObject({
      name: "second_name",
      version: 2,
    });
    const other = await made(toolOf("return 1"), { name: "first_name" });
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

  test("may come from the script, and differ from it nowhere", async () => {
    const { body } = await desk.define(toolOf("", { name: "own_name" }));
    expect(body).toMatchObject({ name: "own_name" });
    expectRefusal(await desk.define(toolOf("", { name: "one" }), { name: "two" }), 400, "invalid_name", "name");
    expectRefusal(await desk.define(toolOf("")), 400, "missing_name", "name");
    const path = `/definitions/${body.id}`;
    expectRefusal(await desk.person("PATCH", path, { name: "other" }), 400, "invalid_name", "name");
    expect((await desk.person("PATCH", path, { source: toolOf("", { name: "new_name" }) })).body.name).toBe("new_name");
    expect((await desk.person("PATCH", path, { source: toolOf("") })).body.name).toBe("new_name");
  });

  test("are such as every provider takes, and none of the built-in ones", async () => {
    for (const name of ["", "a b", "1a", "ä", "a".repeat(65), "a.b"])
      expect((await desk.define(toolOf(""), { name })).status).toBe(400);
    expectRefusal(await desk.define(toolOf("", { name: "a b" })), 400, "invalid_definition", "source");
    for (const name of ["web_search", "web_fetch", "search_documents", "read_document"])
      expectRefusal(await desk.define(toolOf(""), { name }), 400, "invalid_name", "name");
  });
});

describe("what cannot be kept is refused with its place", () => {
  const schema = (parameters: unknown) => toolOf("", { parameters });
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
      "meta that is no object",
      "\nexport const meta = 5; export function execute() {}",
      /meta: .*\(line 2, column 14\)/,
    ],
    ["a description that is no text", toolOf("", { description: 5 }), /meta\.description: .*\(line 1, column 14\)/],
    ["secrets that are no names", toolOf("", { secrets: ["a b"] }), /meta\.secrets\.0: is no name of a secret/],
    ["another type", toolOf("", { type: "workflow" }), /meta\.type is workflow/],
    ["parameters of another type", schema({ type: "string" }), /meta\.parameters\.type: must be "object"/],
    ["parameters without a type", schema({}), /meta\.parameters\.type: must be "object"/],
    [
      "a choice at the top",
      schema({ type: "object", anyOf: [] }),
      /meta\.parameters\.anyOf: is not allowed at the top/,
    ],
    [
      "properties that are no schemas",
      schema({ type: "object", properties: { a: 5 } }),
      /meta\.parameters\.properties\.a: must be a schema/,
    ],
    [
      "a type that there is not",
      schema({ type: "object", properties: { a: { type: "text" } } }),
      /properties\.a\.type: is no type/,
    ],
    [
      "required that is no list",
      schema({ type: "object", required: "a" }),
      /meta\.parameters\.required: must be a list/,
    ],
    ["no execute", "export const meta = {};", /A tool exports a function execute/],
    ["execute that is no function", "export const execute = 5;", /A tool exports a function execute/],
    ["an import", 'import fs from "node:fs";\nexport function execute() {}', /imports nothing: node:fs/],
    ["what throws at the top", "\nthrow new Error('no');\nexport function execute() {}", /no \(line 2, column 1\)/],
    ["a loop at the top", "for (;;) {}\nexport function execute() {}", /computed for longer/],
    ["a wait without end", "await new Promise(() => {});\nexport function execute() {}", /never comes/],
    [
      "a large meta",
      "export const meta = { description: 'x'.repeat(2e6) };\nexport function execute() {}",
      /larger than 1 MiB/,
    ],
    [
      "a schema that nests without an end in sight",
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

  test("schemas that nest too deep or are too long", async () => {
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

  test("a save that is refused leaves what was there", async () => {
    const { id } = await made(toolOf("return 1"));
    expectRefusal(await desk.person("PATCH", `/definitions/${id}`, { source: "export {" }), 400, "invalid_definition");
    expect((await desk.person("GET", `/definitions/${id}`)).body).toMatchObject({
      version: 1,
      source: toolOf("return 1"),
    });
  });

  test("a source over the limit, and a body over it", async () => {
    const long = `${toolOf("return 1")}// ${"x".repeat(262_144)}`;
    expectRefusal(await desk.define(long, { name: "long" }), 400, undefined, "source");
    expectRefusal(await desk.define("x".repeat(1_100_000), { name: "long" }), 413, "request_too_large");
    expectRefusal(await desk.define("", { name: "empty" }), 400, undefined, "source");
  });
});

describe("grants", () => {
  test("are of secrets that the script asks for", async () => {
    const source = toolOf("", { secrets: ["a", "b"] });
    expectRefusal(
      await desk.define(source, { name: "granted", grants: ["a", "c"] }),
      400,
      "unknown_grant",
      "grants[1]",
    );
    const { id, grants } = await made(source, { name: "granted", grants: ["a", "b", "a"] });
    expect(grants).toEqual(["a", "b"]);
    const path = `/definitions/${id}`;
    expectRefusal(await desk.person("PATCH", path, { grants: ["c"] }), 400, "unknown_grant", "grants[0]");
    expect((await desk.person("PATCH", path, { source: toolOf("", { secrets: ["b"] }) })).body.grants).toEqual(["b"]);
    expect((await desk.person("PATCH", path, { grants: [] })).body.grants).toEqual([]);
  });
});

describe("an idempotency key", () => {
  test("makes one definition of two requests", async () => {
    const body = { type: "tool", name: "once", source: toolOf("return 1") };
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

describe("who may", () => {
  test("builders and above of the organization, signed in", async () => {
    const { id } = await made();
    const body = { type: "tool", name: "mine", source: toolOf("") };
    const routes = [
      ["GET", "/definitions"],
      ["POST", "/definitions", body],
      ["GET", `/definitions/${id}`],
      ["PATCH", `/definitions/${id}`, {}],
      ["GET", `/definitions/${id}/versions`],
      ["DELETE", `/definitions/${id}`],
    ] as const;
    for (const [method, path, sent] of routes)
      expectRefusal(await desk.key(method, path, sent), 403, "session_required");
    for (const role of ["viewer", "approver"])
      await desk.as(role, async () => {
        for (const [method, path, sent] of routes)
          expectRefusal(await desk.person(method, path, sent), 403, "forbidden");
      });
    await desk.as("builder", async () => expect((await desk.person("GET", `/definitions/${id}`)).status).toBe(200));
    const stranger = await desk.signIn(await desk.service.organization("Other"));
    for (const [method, path, sent] of routes.slice(2))
      expectRefusal(await stranger(method, path, sent), 404, "definition_not_found", "id");
    expect((await stranger("GET", "/definitions")).body.data).toEqual([]);
    expect((await stranger("POST", "/definitions", { ...body, name: "once" })).status).toBe(201);
    expectRefusal(await desk.person("GET", "/definitions/not-a-uuid"), 404, "definition_not_found", "id");
  });
});
