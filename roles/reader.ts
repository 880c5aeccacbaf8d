import { serveReading } from "#infra/readers/serve.ts";
import { toFileText } from "#services/reading/passageLines.ts";
import { cutPassages } from "#services/reading/passages.ts";
import { readSitemap } from "#services/reading/text/sitemap.ts";
import { readFile } from "#services/reading/read.ts";

/* The program of a reading process, which infra/readers starts. */

// imported on first use: most processes recognize nothing
const recognizers = () => import("#infra/readers/recognition/recognizerFor.ts");

serveReading({
  async read({ languages = [], ...file }, _owner, onProgress) {
    const recognizer = languages.length > 0 ? await (await recognizers()).recognizerFor(languages) : undefined;
    return toFileText(await readFile(file, recognizer, onProgress));
  },
  async cut(bytes, paging) {
    const markdown = bytes.toString();
    const passages = cutPassages(markdown, paging);
    const { markdown: _, ...cut } = toFileText({ ...paging, markdown, passages, warnings: [] });
    return cut;
  },
  list: async (bytes) => readSitemap(bytes),
});
