import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

/** The npm package with the trained data of a language (three letters, such as `deu`). */
export const languagePackage = (language: string): string => `@tesseract.js-data/${language}`;

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
