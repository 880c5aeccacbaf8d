import { hasReader, typeOfExtension, types, usualType } from "#events/mediaTypes.ts";
import { UnreadableFile, type Reader } from "#services/reading/reader.ts";
import { WebError, type WebPage } from "#services/turns/tools/web.ts";
import { download, type Download } from "./download.ts";

const ACCEPT = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/pdf;q=0.8, */*;q=0.5";

/** Its declared type, or what its name says where that tells nothing. */
function typeOf({ url, headers }: Download): string {
  const declared = usualType(headers.get("content-type") ?? "");
  if (hasReader(declared)) return declared;
  const guessed = typeOfExtension(new URL(url).pathname);
  if (guessed) return guessed;
  if (declared === "" || declared.startsWith("text/")) return types.txt;
  throw new WebError(`There is nothing to read in a file of the type ${declared.slice(0, 100)}.`);
}

/** The first heading, else the host. */
const titleOf = (markdown: string, url: string): string =>
  (/^#{1,6}[ \t]+(.+)$/m.exec(markdown)?.[1]?.trim() || new URL(url).host).slice(0, 200);

/** Reads a page or a file of the web as Markdown; the file is read where it can do no harm. Throws WebError. */
export async function readPage(
  fetch: typeof globalThis.fetch,
  reader: Pick<Reader, "read">,
  url: string,
  signal: AbortSignal,
): Promise<WebPage> {
  const found = await download(fetch, url, { headers: { accept: ACCEPT } }, signal);
  if (found.status >= 400) throw new WebError(`The server answered ${found.status}.`);
  try {
    const read = await reader.read({ bytes: found.bytes, mime_type: typeOf(found), name: "page" });
    const markdown = read.markdown.toString();
    return { url: found.url, title: titleOf(markdown, found.url), text: markdown };
  } catch (error) {
    if (error instanceof UnreadableFile) throw new WebError(error.message, { cause: error });
    throw error;
  }
}
