import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

/** The npm package with the trained data of a language (three letters, such as `deu`). */
export const languagePackage = (language: string): string => `@tesseract.js-data/${language}`;

/** Folders of packages, the nearest first. */
const packageFolders = (): string[] => resolve.paths(languagePackage("eng")) ?? [];

const listFolder = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

/** The compressed file in that package. Throws if the package is not installed. */
export const languageFile = (language: string): string =>
  join(dirname(resolve(`${languagePackage(language)}/package.json`)), "4.0.0_best_int", `${language}.traineddata.gz`);

/** Languages whose packages are not installed. */
export const missingLanguages = (languages: readonly string[]): string[] =>
  languages.filter((language) => {
    try {
      languageFile(language);
      return false;
    } catch {
      return true;
    }
  });

/** The languages whose packages are installed, in alphabetical order. */
export const installedLanguages = (): string[] => {
  const found = packageFolders().flatMap((folder) => listFolder(join(folder, dirname(languagePackage("eng")))));
  const missing = new Set(missingLanguages(found));
  return [...new Set(found)].filter((language) => !missing.has(language)).toSorted();
};
