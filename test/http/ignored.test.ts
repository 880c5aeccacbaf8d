import { describe, expect, test } from "vitest";
import { clientOf, startService } from "./service.ts";

/* The service ignores unknown fields, roles and parts, whatever they contain, as the spec requires. */

const service = await startService();
const call = clientOf(service, service.credentials.api_key);

const complete = (messages: unknown[], more: object = {}) =>
  call("POST", "/chat/completions", { model: "offline/echo", messages, ...more });
const said = ({ status, body }: Awaited<ReturnType<typeof complete>>) => [status, body.choices?.[0].message.content];

describe("a completion ignores", () => {
  test.each([
    ["fields that it does not know", [{ role: "user", content: "Hi" }], { functions: [{ name: "f" }], zzz: { a: 1 } }],
    [
      "parts of other types",
      [
        {
          role: "user",
          content: [
            { type: "zzz", text: 5 },
            { type: "text", text: "Hi" },
          ],
        },
      ],
      {},
    ],
    [
      "tool messages",
      [
        { role: "user", content: "Hi" },
        { role: "tool", content: 12 },
        { role: "tool", content: { a: 1 } },
      ],
      {},
    ],
    [
      "a schema without a description",
      [{ role: "user", content: "Hi" }],
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", description: null, schema: { type: "string" } },
        },
      },
    ],
  ])("%s", async (_, messages, more) => {
    const [status, content] = said(await complete(messages, more));
    expect([status, typeof content]).toEqual([200, "string"]);
  });

  test.each([
    [{ role: "zzz", content: 5 }, "invalid_role", "messages[0].role"],
    [{ role: "user", content: 5 }, null, "messages[0].content"],
    [{ role: "user", content: [{ type: "text", text: 5 }] }, null, "messages[0].content[0].text"],
    [{ role: "user", content: [{ text: "no type" }] }, null, "messages[0].content"],
  ])("but not the message %j", async (message, code, param) => {
    const { status, body } = await complete([message]);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });
});

describe("an upload", () => {
  const upload = async (parts: [name: string, value: string | Blob, filename?: string][]) => {
    const form = new FormData();
    for (const [name, value, filename] of parts)
      if (typeof value === "string") form.append(name, value);
      else form.append(name, value, filename);
    return call("POST", "/files", form);
  };
  const octets = () => new Blob(["x"], { type: "application/octet-stream" });

  test("ignores unknown parts, even files", async () => {
    const { status, body } = await upload([
      ["other", new Blob(["y"]), "other.txt"],
      ["file", octets(), "a.pdf"],
      ["zzz", "1"],
    ]);
    expect([status, body.filename, body.mime_type]).toEqual([201, "a.pdf", "application/pdf"]);
  });

  test("ignores unknown fields that are not what their type says, and a file without a name", async () => {
    const part = (head: string, body: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
    const zzz = part('name="zzz"\r\nContent-Type: application/json', "{broken");
    const send = (parts: string) =>
      call("POST", "/files", `${parts}--b--\r\n`, { "content-type": "multipart/form-data; boundary=b" });
    const { status, body } = await send(`${zzz}${part('name="file"; filename="a.txt"', "x")}`);
    expect([status, body.filename]).toEqual([201, "a.txt"]);
    const unnamed = await send(zzz + part('name="file"', "x"));
    expect([unnamed.status, unnamed.body.error.code]).toEqual([400, "missing_file"]);
  });

  test("stores an empty purpose as sent", async () =>
    expect(
      (
        await upload([
          ["purpose", ""],
          ["file", octets(), "a.txt"],
        ])
      ).body.purpose,
    ).toBe(""));

  test.each(["c", "html", "pdf"])("named %s has no extension", async (name) =>
    expect((await upload([["file", octets(), name]])).body.mime_type).toBe("application/octet-stream"),
  );
});

test("a body with a field named like a prototype property is refused with that name", async () => {
  const { status, body } = await call("POST", "/chat/completions", '{"model":"offline/echo","__proto__":{}}');
  expect([status, body.error.code, body.error.message]).toEqual([
    400,
    "invalid_json",
    expect.stringContaining("__proto__"),
  ]);
});
