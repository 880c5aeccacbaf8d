import { afterEach, expect, test } from "vitest";
import { CANARY, hostileFiles } from "../files/bombs.ts";
import { openReader } from "../knowledge/library.ts";
import { leavesWell, startTarget } from "./target.ts";

const target = await startTarget();
const { url, organization } = target.platform;
const attacker = openReader(url, target.api_key);
const bystander = openReader(url, (await organization("Bystander")).api_key);
leavesWell(() => target, afterEach);

const files = hostileFiles();

test("every hostile file is accepted and then read or failed, while another tenant's documents become ready", async () => {
  const shelf = await bystander.collect("Meanwhile");
  const asked = await Promise.all(
    files.map(({ content, name }) => attacker.extract({ content: content as string, name })),
  );
  const meanwhile = Array.from({ length: 3 }, (_, n) =>
    bystander.keep(shelf, { content: `Meanwhile ${n}.`, name: `${n}.md` }),
  );
  expect((await Promise.all(meanwhile)).map(({ status }) => status)).toEqual(["ready", "ready", "ready"]);

  const ends = await Promise.all(
    asked.map(async ({ status, body }, n) => {
      const { title } = files[n]!;
      if (status !== 202) return { title, status, error: body.error };
      const { markdown, error, ...record } = await attacker.extracted(body.id);
      expect.soft(markdown ?? "", title).not.toContain(CANARY);
      if (record.status === "failed") {
        expect.soft(error, title).toMatch(/^[A-Z].*\.$/);
        expect.soft(error, title).not.toMatch(/Error|exception|undefined|\bnull\b|heap|node|\/\w+\/\w+\.\w+/);
      }
      return { title, status: record.status, error };
    }),
  );
  for (const [n, { title, status, error }] of ends.entries())
    expect.soft(files[n]!.ends, `${title}: ${status} ${JSON.stringify(error)}`).toContain(status);
});
