import { hasReader, typeFromFileName, MEDIA_TYPES, canonicalType } from "#events/mediaTypes.ts";
import { UnreadableFile, type Reader } from "#services/reading/reader.ts";
import { WebError, type DownloadMemory, type WebPage } from "#services/turns/tools/web.ts";
import { download, type Download } from "./download.ts";

const ACCEPT = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/pdf;q=0.8, */*;q=0.5";

/** The declared type, or the type of the file extension if the declared one has no reader. */
function mediaTypeOf({ url, headers }: Download): string {
  const declared = canonicalType(headers.get("content-type") ?? "");
  if (hasReader(declared, false)) return declared;
  const byExtension = typeFromFileName(new URL(url).pathname);
  if (byExtension && hasReader(byExtension, false)) return byExtension;
  if (declared === "" || declared.startsWith("text/")) return MEDIA_TYPES.txt;
  throw new WebError(`A file of this type cannot be read: ${declared.slice(0, 100)}.`);
}

/** The first heading, or the host. */
const pageTitle = (markdown: string, url: string): string =>
  (/^#{1,6}[ \t]+(.+)$/m.exec(markdown)?.[1]?.trim() || new URL(url).host).slice(0, 200);

interface PageSource {
  fetch: typeof globalThis.fetch;
  reader: Pick<Reader, "read">;
  /** Where the page is counted until it is read. */
  memory?: DownloadMemory;
}

/** Reads a web page or file as Markdown, in the sandbox of the reader. Throws WebError. */
export async function readPage(
  { fetch, reader, memory }: PageSource,
  url: string,
  signal: AbortSignal,
): Promise<WebPage> {
  try {
    const found = await download(fetch, url, { headers: { accept: ACCEPT } }, signal, memory && { memory });
    if (found.status >= 400) throw new WebError(`The server answered ${found.status}.`);
    const read = await reader.read({ bytes: found.bytes, mime_type: mediaTypeOf(found) });
    const markdown = read.markdown.toString();
    return { url: found.url, title: pageTitle(markdown, found.url), text: markdown };
  } catch (error) {
    if (error instanceof UnreadableFile) throw new WebError(error.message, { cause: error });
    throw error;
  } finally {
    memory?.release();
  }
}
