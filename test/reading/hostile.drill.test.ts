import { afterAll, expect, test } from "vitest";
import { typeFromFileName } from "#events/mediaTypes.ts";
import { openReader } from "#infra/readers/openReader.ts";
import { decodePassages, readPagination } from "#services/reading/passageLines.ts";
import { UnreadableFile } from "#services/reading/reader.ts";
import { hostileFiles } from "../files/bombs.ts";
import { realFile } from "../files/index.ts";

const reader = openReader({ processes: 1 });
afterAll(() => reader.close());

/* One process reads all files, so each test also shows that the process works after a hostile file. */
test.each(hostileFiles().filter(({ name }) => !name.endsWith(".pdf")))(
  "$title ($name) is read or refused, and the next file is read normally",
  async ({ name, content, ends }) => {
    const before = process.memoryUsage.rss();
    const file = { mime_type: typeFromFileName(name)!, bytes: Buffer.from(content as string) };
    const outcome = await reader.read(file).catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(UnreadableFile);
    expect(ends).toContain(outcome instanceof Error ? "failed" : "ready");
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);

    const next = await reader.read({ mime_type: "text/markdown", bytes: Buffer.from("# Next") });
    expect(next.markdown.toString()).toBe("# Next");
  },
);

test("cutting stored Markdown again gives the same passages as its first reading", async () => {
  const name = "deck.pptx";
  const { markdown, ...read } = await reader.read({ mime_type: typeFromFileName(name)!, bytes: realFile(name) });
  expect(await reader.cut(markdown, readPagination(read.passages))).toMatchObject(read);
  expect((await decodePassages(read.passages)).map(({ page }) => page)).toEqual([1, 2, 3, 4]);
});
