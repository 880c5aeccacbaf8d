import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Manual } from "./manual.ts";
import { runProgram } from "./runProgram.ts";

/** A program that makes files of manuals. */
export interface Maker {
  kind: string;
  extension: string;
  /** Resolves with the files' names within the folder, in order; undefined if the program is not installed. */
  make(manuals: readonly Manual[], folder: string): Promise<string[] | undefined>;
}

const pandoc = (extension: string, ...options: string[]): Maker => ({
  kind: `${extension} by pandoc`,
  extension,
  async make(manuals, folder) {
    await mkdir(folder, { recursive: true });
    const names: string[] = [];
    for (const [n, { markdown }] of manuals.entries()) {
      const [source, name] = [join(folder, `pandoc-${n}.md`), `pandoc-${n}.${extension}`];
      await writeFile(source, markdown);
      const made = await runProgram("pandoc", [source, "--from", "gfm", ...options, "--output", join(folder, name)]);
      if (!made) return undefined;
      names.push(name);
    }
    return names;
  },
});

const libreOffice = (extension: string, filter: string): Maker => ({
  kind: `${extension} by LibreOffice`,
  extension,
  async make(manuals, folder) {
    await mkdir(folder, { recursive: true });
    const sources = manuals.map((_, n) => join(folder, `office-${n}.html`));
    for (const [n, { html }] of manuals.entries()) await writeFile(sources[n]!, html);
    // a profile of its own: LibreOffice refuses one that is in use
    const profile = `-env:UserInstallation=${pathToFileURL(join(folder, "profile")).href}`;
    const convert = ["--headless", "--infilter=HTML (StarWriter)", "--convert-to", `${extension}:${filter}`];
    const made = await runProgram("soffice", [profile, ...convert, "--outdir", folder, ...sources]);
    return made && manuals.map((_, n) => `office-${n}.${extension}`);
  },
});

export const makers: Maker[] = [
  pandoc("docx"),
  pandoc("odt"),
  pandoc("html", "--standalone", "--metadata", "pagetitle=Manual"),
  libreOffice("docx", "MS Word 2007 XML"),
  libreOffice("odt", "writer8"),
  libreOffice("rtf", "Rich Text Format"),
  libreOffice("pdf", "writer_pdf_Export"),
];
