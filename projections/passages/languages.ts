import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as hungarian } from "@orama/stemmers/hungarian";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { stopwords as danishWords } from "@orama/stopwords/danish";
import { stopwords as dutchWords } from "@orama/stopwords/dutch";
import { stopwords as englishWords } from "@orama/stopwords/english";
import { stopwords as finnishWords } from "@orama/stopwords/finnish";
import { stopwords as frenchWords } from "@orama/stopwords/french";
import { stopwords as germanWords } from "@orama/stopwords/german";
import { stopwords as hungarianWords } from "@orama/stopwords/hungarian";
import { stopwords as italianWords } from "@orama/stopwords/italian";
import { stopwords as japaneseWords } from "@orama/stopwords/japanese";
import { stopwords as mandarinWords } from "@orama/stopwords/mandarin";
import { stopwords as norwegianWords } from "@orama/stopwords/norwegian";
import { stopwords as portugueseWords } from "@orama/stopwords/portuguese";
import { stopwords as romanianWords } from "@orama/stopwords/romanian";
import { stopwords as russianWords } from "@orama/stopwords/russian";
import { stopwords as spanishWords } from "@orama/stopwords/spanish";
import { stopwords as swedishWords } from "@orama/stopwords/swedish";
import { stopwords as turkishWords } from "@orama/stopwords/turkish";

export interface Language {
  /** Words that carry no meaning for a search, in lower case. */
  stopWords: Set<string>;
  stem(word: string): string;
}

const noStemming = (word: string): string => word;
/** Long stop word lists contain words that people search for (`trabajo`, `empleo`), so only their short words are used. */
const [LONG_LIST, SHORT_WORD] = [300, 4];
const language = (stopWords: string[], stem: (word: string) => string): Language => ({
  stopWords: new Set(stopWords.length > LONG_LIST ? stopWords.filter(({ length }) => length <= SHORT_WORD) : stopWords),
  stem,
});

const ENGLISH = language(["a", ...englishWords], english);
const RUSSIAN = language(russianWords, russian);
/** In order of preference if several languages match the same number of words. */
const LANGUAGES = [
  ENGLISH,
  language(germanWords, german),
  language(frenchWords, french),
  language(spanishWords, spanish),
  language(italianWords, italian),
  language(portugueseWords, portuguese),
  language(dutchWords, dutch),
  language(swedishWords, swedish),
  language(danishWords, danish),
  language(norwegianWords, norwegian),
  language(finnishWords, finnish),
  language(hungarianWords, hungarian),
  language(romanianWords, romanian),
  language(turkishWords, turkish),
  RUSSIAN,
  language(japaneseWords, noStemming),
  language(mandarinWords, noStemming),
];

/** The language with the most stop words among the words (lower case). If there are none: Russian for Cyrillic letters, otherwise English. */
export const detectLanguage = (words: string[]): Language => {
  let [best, most] = [words.some((word) => /\p{Script=Cyrillic}/u.test(word)) ? RUSSIAN : ENGLISH, 0];
  for (const each of LANGUAGES) {
    const spoken = words.filter((word) => each.stopWords.has(word)).length;
    if (spoken > most) [best, most] = [each, spoken];
  }
  return best;
};
