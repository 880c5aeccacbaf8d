import { beforeAll, expect, test } from "vitest";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});

const MANY = 16;
/** A row that takes long to be read, beside the time that its upload takes. */
const CELLS = 100_000;

test("an organization with one document does not wait for another's many", async () => {
  const few = library.as((await library.platform.organization("Few")).api_key);
  const [shelf, small] = [await library.collect("Many"), await few.collect("Few")];
  const sent = await Promise.all(
    Array.from({ length: MANY }, (_, n) =>
      library.upload(shelf, { content: `${"a,".repeat(CELLS)}${n}\n`, name: `${n}.csv` }),
    ),
  );
  expect(sent.map(({ status }) => status)).toEqual(Array(MANY).fill(202));
  expect((await few.keep(small, { content: "The only one.", name: "one.md" })).status).toBe("ready");
  const { total } = (await library.call("GET", `/collections/${shelf}/documents?status=ready`)).body;
  expect(total).toBeLessThan((MANY * 3) / 4);
  for (const { body } of sent) expect((await library.ended(body.id)).status).toBe("ready");
}, 120_000);
