import { serveReading } from "#infra/readers/serve.ts";
import { toFileText } from "#services/reading/passageLines.ts";
import { cutPassages } from "#services/reading/passages.ts";
import { readSitemap } from "#services/reading/text/sitemap.ts";
import { readFile } from "#services/reading/read.ts";

/* The program of a reading process, which infra/readers starts. Its arguments are the languages of text recognition, if any. */
const languages = process.argv.slice(2);
const openRecognizer = async () =>
  (await import("#infra/readers/recognition/createRecognizer.ts")).createRecognizer({ languages });
const recognizer = languages.length > 0 ? await openRecognizer() : undefined;

serveReading({
  read: async (file) => toFileText(await readFile(file, recognizer)),
  async cut(bytes, paging) {
    const markdown = bytes.toString();
    const passages = cutPassages(markdown, paging);
    const { markdown: _, ...cut } = toFileText({ ...paging, markdown, passages, warnings: [] });
    return cut;
  },
  list: async (bytes) => readSitemap(bytes),
});
