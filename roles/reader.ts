import { serveReading } from "#infra/readers/serve.ts";
import { keepable } from "#services/reading/passageLines.ts";
import { cutPassages } from "#services/reading/passages.ts";
import { readFile } from "#services/reading/read.ts";

/* The program of a reading process; infra/readers starts it. */
serveReading({
  read: async (file) => keepable(await readFile(file)),
  async cut(bytes, paging) {
    const markdown = bytes.toString();
    const { markdown: _, ...cut } = keepable({ ...paging, markdown, passages: cutPassages(markdown, paging.pages) });
    return cut;
  },
});
