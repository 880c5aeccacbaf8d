import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { fileForm } from "../http/service.ts";
import { expectRefusal, leavesWell, say, startTarget } from "./target.ts";

const target = await startTarget();
leavesWell(() => target);

const inline = (file_data: string, filename?: string) => say([{ type: "file", file: { file_data, filename } }]);
const param = "messages[0].content[0].file.file_data";

describe("the base64 of an attachment", () => {
  const wrong: [string, string][] = [
    ["characters beyond its alphabet", "!!!!"],
    ["three characters", "AAA"],
    ["padding inside", "AA=A"],
    ["padding first", "=AAA"],
    ["too much padding", "A==="],
    ["only padding", "===="],
    ["characters after the padding", "AA==AAAA"],
    ["no padding", "AA"],
    ["the URL-safe alphabet", "-_-_"],
    ["a space", "AA AA=="],
    ["a space at the beginning", " AAAA"],
    ["a line break", "AAAA\r\nAAAA"],
    ["a line break at the end", "AAAA\n"],
    ["a tab", "AA\tAA"],
    ["a NUL", "AAA\u0000"],
    ["percent signs", "AA%3D%3D"],
    ["letters beyond ASCII", "ÄÖÜß"],
    ["digits beyond ASCII", "１２３４"],
    ["half a surrogate pair", "AAA\ud800"],
    ["no characters", ""],
    ["one wrong character at the end of a megabyte", `${"A".repeat(1_000_000)}AAA!`],
    ["a megabyte of padding", "=".repeat(1_000_000)],
  ];

  test.each(wrong)("is refused bare and in a data URL: %s", async (_name, data) => {
    expectRefusal(await target.complete(JSON.stringify(inline(data, "a.bin"))), 400, "invalid_attachment", param);
    expectRefusal(
      await target.complete(JSON.stringify(inline(`data:text/plain;base64,${data}`))),
      400,
      "invalid_attachment",
      param,
    );
  });

  test.each([
    ["AA==", 1],
    ["AAA=", 2],
    ["AAAA", 3],
    ["+/+/", 3],
  ])("%s is decoded to %i bytes", async (data, bytes) => {
    const { status, body } = await target.complete(inline(data, "a.bin"));
    expect([status, body.choices[0].message.content]).toEqual([
      200,
      `[a.bin, application/octet-stream, ${bytes} bytes]`,
    ]);
  });

  test.each([
    ["data:text/plain;charset=utf-8;base64,AAAA", "text/plain"],
    ["DATA:IMAGE/PNG;BASE64,AAAA", "image/png"],
    ["data:<script>/x;base64,AAAA", "application/octet-stream"],
  ])("in the data URL %s gets a type that is safe to show", async (data, type) => {
    const { status, body } = await target.complete(inline(data, "a.x"));
    expect([status, body.choices[0].message.content]).toEqual([200, `[a.x, ${type}, 3 bytes]`]);
  });

  test.each([
    ["a type of 100,000 letters", `data:${"a".repeat(100_000)}/x;base64,AAAA`],
    ["100,000 parameters", `data:a/b${";x=y".repeat(100_000)};base64,AAAA`],
  ])("is refused in a data URL with %s", async (_name, data) => {
    expectRefusal(await target.complete(inline(data)), 400, "invalid_attachment", param);
  });
});

describe("an attachment's filename is only displayed:", () => {
  const names: [string, string, string][] = [
    ["a path", "../../etc/passwd", "passwd"],
    ["a Windows path", "..\\..\\boot.ini", "boot.ini"],
    ["an absolute path", "/etc/shadow", "shadow"],
    ["dots only", "..", "text.txt"],
    ["an empty name", "", "text.txt"],
    ["white space", "  \t ", "text.txt"],
    ["a quote and a header line", 'a"\r\nX-Evil: yes.txt', 'a"X-Evil: yes.txt'],
    ["NUL", "a\u0000.txt", "a.txt"],
    ["a right-to-left override", "\u202egnp.exe", "gnp.exe"],
    ["invisible characters", "a\u200b\u2066\ufeffb.txt", "ab.txt"],
    ["an emoji", "🎉 größe.txt", "🎉 größe.txt"],
    ["a device name", "CON", "CON"],
    ["half a surrogate pair", "a\ud800.txt", "a\ufffd.txt"],
    ["template placeholders", "${x}{{y}}%s.txt", "${x}{{y}}%s.txt"],
  ];

  test.each(names)("%s, in a part", async (_name, sent, shown) => {
    const { status, body } = await target.complete(JSON.stringify(inline("data:text/plain;base64,AAAA", sent)));
    expect([status, body.choices[0].message.content]).toEqual([200, `[${shown}, text/plain, 3 bytes]`]);
  });

  // a form cannot carry line ends, NUL or half pairs in a quoted name
  test.each(
    names.filter(
      ([, sent]) => sent !== "" && sent.isWellFormed() && !["\r", "\u0000"].some((one) => sent.includes(one)),
    ),
  )("%s, uploaded", async (_name, sent, shown) => {
    const name = sent.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    const body = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n`;
    const { status, body: file } = await target.send("POST", "/files", body, {
      "content-type": "multipart/form-data; boundary=b",
    });
    expect([status, file.filename]).toEqual([201, shown]);
    const { headers, text } = await target.send("GET", `/files/${file.id}/content`);
    expect(text).toBe("x");
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename=/);
    expect([headers.get("x-evil"), headers.get("x-content-type-options")]).toEqual([null, "nosniff"]);
  });

  test("a name of 5 kB is cut, and keeps its extension", async () => {
    for (const name of [`${"n".repeat(5_000)}.txt`, `${"🎉".repeat(1_250)}.txt`]) {
      const { body } = await target.complete(inline("data:text/plain;base64,AAAA", name));
      const shown = /^\[(.*), text\/plain, 3 bytes\]$/s.exec(body.choices[0].message.content)![1]!;
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(255);
      expect([shown.endsWith(".txt"), shown.isWellFormed()]).toEqual([true, true]);
    }
  });

  test("names of millions of characters that are expensive to normalize or split are processed quickly", async () => {
    for (const name of ["a" + "\u0315\u0300\u0316".repeat(1_000_000), "/".repeat(3_000_000)]) {
      const { status } = await target.complete(inline("data:text/plain;base64,AAAA", `${name}.txt`));
      expect(status).toBe(200);
    }
  });

  test("a file that a browser might run is only offered for download", async () => {
    const form = fileForm("<script>alert(1)</script>", "page.html", { type: "text/html" });
    const { id } = (await target.send("POST", "/files", form)).body;
    const { headers } = await target.send("GET", `/files/${id}/content`, undefined, { accept: "text/html" });
    expect(headers.get("content-disposition")).toMatch(/^attachment/);
    expect(headers.get("content-security-policy")).toContain("sandbox");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  });

  test("no file on disk has a client's filename", async () => {
    const { settings } = target.platform;
    const kept = await readdir(settings.DATA_DIR, { recursive: true });
    expect(kept.filter((path) => /passwd|boot|shadow|evil|gnp|größe|page|🎉/i.test(path))).toEqual([]);
  });
});
