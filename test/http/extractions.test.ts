import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { requestShortLived } from "../extractions/requestShortLived.ts";
import { clientOf, code, startService, UNKNOWN } from "./service.ts";

const service = await startService();
const base = `${service.base}/api/v1/extractions`;
const call = clientOf(service, service.credentials.api_key);
const other = clientOf(service, (await service.organization("Other")).api_key);

const DAY_MS = 24 * 60 * 60 * 1000;
const formOf = (content: string, name = "a.csv", type = "text/csv") => {
  const form = new FormData();
  form.append("ignored", "no file");
  form.append("whatever", new File([content], name, { type }));
  return form;
};

describe("an extraction", () => {
  test("is created, is the same for the same bytes, and is destroyed", async () => {
    const { status, body } = await call("POST", base, formOf("a,b\n1,2\n"));
    expect([status, body]).toEqual([
      202,
      {
        id: expect.any(String),
        status: "pending",
        name: "a.csv",
        mime_type: "text/csv",
        size_bytes: 8,
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(DAY_MS);
    const again = await call("POST", base, formOf("a,b\n1,2\n", "b.csv"));
    expect([again.status, again.body.id, again.body.name]).toEqual([200, body.id, "a.csv"]);
    const typed = await call("POST", base, formOf("a,b\n1,2\n", "a.md", "text/markdown"));
    expect([typed.status, typed.body.id, typed.body.mime_type]).toEqual([200, body.id, "text/csv"]);
    expect((await other("POST", base, formOf("a,b\n1,2\n"))).status).toBe(202);

    const { created_at, expires_at } = body;
    expect((await call("GET", `${base}/${body.id}`)).body).toMatchObject({ id: body.id, created_at, expires_at });
    const unknown = await call("GET", `${base}/${UNKNOWN}`);
    expect(code(unknown)).toEqual([404, "extraction_not_found"]);
    for (const answer of [await other("GET", `${base}/${body.id}`), await other("DELETE", `${base}/${body.id}`)])
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    expect((await call("DELETE", `${base}/${body.id}`)).status).toBe(204);
    for (const method of ["GET", "DELETE"])
      expect((await call(method, `${base}/${body.id}`)).body).toEqual(unknown.body);
    for (const method of ["GET", "DELETE"])
      for (const id of ["nonsense", "%00"]) expect((await call(method, `${base}/${id}`)).body).toEqual(unknown.body);
    expect(await service.db.query("select from log.keys where thing = $1", [`extraction-${body.id}`])).toEqual([]);
    expect((await call("POST", base, formOf("a,b\n1,2\n"))).status).toBe(202);
  });

  test("ignores parts without a filename, whatever they hold", async () => {
    const form = formOf("a,b\nignored,parts\n");
    form.append("tags", " ");
    form.append("tags", "x".repeat(70_000));
    expect((await call("POST", base, form)).status).toBe(202);
    const part = (head: string, body: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
    const json = part('name="tags"\r\nContent-Type: application/json', "{broken");
    const body = `${json}${part('name="f"; filename="a.txt"', "beside a broken part")}--b--\r\n`;
    const type = { "content-type": "multipart/form-data; boundary=b" };
    expect((await call("POST", base, body, type)).status).toBe(202);
  });

  test("is gone the moment it expires, and its bytes can be sent again", async () => {
    const owner = { opened: service.opened, organization_id: service.credentials.organization_id };
    const { id, expires_at } = await requestShortLived(owner, 2_000, "soon over", "csv");
    expect(Date.now()).toBeLessThan(expires_at.getTime());
    expect((await call("POST", base, formOf("soon over"))).body.id).toBe(id);
    await sleep(expires_at.getTime() - Date.now());
    expect(code(await call("GET", `${base}/${id}`))).toEqual([404, "extraction_not_found"]);
    expect(code(await call("DELETE", `${base}/${id}`))).toEqual([404, "extraction_not_found"]);
    const { status, body } = await call("POST", base, formOf("soon over"));
    expect([status, body.id === id]).toEqual([202, false]);
  });

  test("is created once under its Idempotency-Key, and once for parallel requests", async () => {
    const headers = { "idempotency-key": "k" };
    const first = await call("POST", base, formOf("keyed"), headers);
    const second = await call("POST", base, formOf("keyed"), headers);
    expect([second.status, second.body.id]).toEqual([202, first.body.id]);
    expect(code(await call("POST", base, formOf("other"), headers))).toEqual([422, "idempotency_key_reused"]);
    const answers = await Promise.all(Array.from({ length: 6 }, () => call("POST", base, formOf("at once"))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 202]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test.each<[string, string, [string, string | File][]]>([
    ["no file", "missing_file", [["a", "x"]]],
    ["an empty file", "empty_document", [["a", new File([], "a.txt")]]],
    [
      "two files",
      "too_many_files",
      [
        ["a", new File(["x"], "a.txt")],
        ["a", new File(["x"], "a.txt")],
      ],
    ],
  ])("is refused for %s", async (_name, expected, parts) => {
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    expect(code(await call("POST", base, form))).toEqual([400, expected]);
  });

  test("is refused for anything but a readable form", async () => {
    expect(code(await call("POST", base, {}))).toEqual([400, "invalid_body"]);
    const cut = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nx';
    const type = { "content-type": "multipart/form-data; boundary=b" };
    expect(code(await call("POST", base, cut, type))).toEqual([400, "invalid_body"]);
    expect(code(await call("POST", base, "", type))).toEqual([400, "missing_file"]);
    expect((await call("GET", base)).status).toBe(404);
  });
});
