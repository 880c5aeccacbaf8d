import { readFileSync } from "node:fs";
import { join } from "node:path";
import { types } from "#events/mediaTypes.ts";

/* Real files, made by office programs (make.sh), and what is in them. */

export const realFile = (name: string): Buffer<ArrayBuffer> => readFileSync(join(import.meta.dirname, name));

export interface Truth {
  name: string;
  mime_type: string;
  /** Null where the type has no pages. */
  page_count: number | null;
  /** In this order, whatever the spaces between the words. */
  says: string[];
  headings: string[];
  /** Cells of table rows. */
  rows: string[][];
  /** Items of lists. */
  items: string[];
}

const GUIDE = {
  says: [
    "The tower was built in 1868 by Agnes Thorburn on a rock that the tide covers twice a day.",
    "The name on the door, Ørsted & Søn, is that of the firm that made the lens.",
    "Elspeth Bray is the only keeper who is buried on the rock.",
    "Ships to the north of the reef see red; ships in the fairway see white.",
    "A lamp lasts about 4,000 hours.",
    'colour = "white", "red"',
    "The tower is open from May to September, on Saturdays and Sundays.",
    "Coins for the telescope",
  ],
  headings: [
    "History",
    "Keepers",
    "The light",
    "Replacing the lamp",
    "The timer",
    "Visitors",
    "Prices",
    "What to bring",
  ],
  rows: [
    ["Name", "From", "To", "Cats"],
    ["Tómas Ó Cuív", "1907", "1923", "1"],
    ["Children under 14", "3.00"],
  ],
  items: ["Wait ten minutes until the glass is cold.", "Shoes that may get wet", "A coat, in summer too"],
};
const WORDS = { headings: [], rows: [], items: [] };
const DECK = {
  says: [
    "The reef at low water",
    "Beadlet anemones, which close when the water leaves them",
    "Counting",
    "The whistle means: turn round at once",
  ],
  headings: ["What lives in the pools", "Counting", "Rules for the group"],
  rows: [["Middle", "9", "11"]],
  items: ["Shore crabs", "Nobody goes beyond the iron pole"],
};
const STOCK = {
  says: ["Lamp 1000 W", "Rope 30 m"],
  headings: [],
  rows: [
    ["Article", "Place", "Pieces", "Price", "Counted"],
    ["Cotton gloves", "Drawer 2, left", "24"],
    ["Fuse 16 A", "Cellar", "112"],
  ],
  items: [],
};
const LETTER = {
  ...WORDS,
  says: ["Dear Søren,", "the café on the pier opens at 7 o’clock – the “Möwe” at eight.", "£2.40"],
};

const truth = (
  name: string,
  mime_type: string,
  said: Omit<Truth, "name" | "mime_type" | "page_count">,
  pages?: number,
) => ({
  name,
  mime_type,
  page_count: pages ?? null,
  ...said,
});

/** Files that end `ready`. */
export const readable: Truth[] = [
  truth("guide.pdf", types.pdf, GUIDE, 3),
  truth("guide-tagged.pdf", types.pdf, GUIDE, 3),
  truth("restricted.pdf", types.pdf, GUIDE, 3),
  truth("guide.docx", types.docx, GUIDE),
  truth("guide-pandoc.docx", types.docx, GUIDE),
  truth("guide.odt", types.odt, GUIDE),
  truth("guide.rtf", types.rtf, { ...WORDS, says: GUIDE.says }),
  truth("guide.doc", types.doc, { ...WORDS, says: GUIDE.says }),
  truth("guide.epub", types.epub, GUIDE),
  truth("guide.html", types.html, GUIDE),
  truth("guide.md", types.md, GUIDE),
  truth("guide.txt", types.txt, { ...WORDS, says: GUIDE.says }),
  truth("deck.pptx", types.pptx, DECK, 4),
  truth("deck-pandoc.pptx", types.pptx, DECK, 4),
  truth("deck.odp", types.odp, { ...WORDS, says: DECK.says }),
  truth("stock.xlsx", types.xlsx, STOCK),
  truth("stock.xls", types.xls, STOCK),
  truth("stock.ods", types.ods, STOCK),
  truth("stock.csv", types.csv, { ...STOCK, rows: [...STOCK.rows, ["Lens cloth", 'Drawer 2, "clean"', "40", "0.75"]] }),
  truth("mail.eml", types.eml, {
    says: ["Spare lamps – counted", "Six lamps came on Tuesday."],
    headings: [],
    rows: [["Spare", "650"]],
    items: [],
  }),
  truth("settings.json", types.json, { ...WORDS, says: ['"period_s": 18', "Tómas Ó Cuív"] }),
  truth("station.xml", types.xml, { ...WORDS, says: ["three flashes"] }),
  truth("letter-1252.txt", types.txt, LETTER),
  truth("letter-utf16.txt", types.txt, LETTER),
];

/** Files that end `failed`, and what a person is told. */
export const unreadable: { name: string; told: RegExp }[] = [
  { name: "locked.pdf", told: /password|encrypted|protected/i },
  { name: "locked.docx", told: /password|encrypted|protected/i },
  { name: "locked.odt", told: /password|encrypted|protected/i },
  { name: "locked.xlsx", told: /password|encrypted|protected/i },
  { name: "scanned.pdf", told: /scan|no text|image|picture/i },
  { name: "blank.pdf", told: /no text|empty|nothing|scan/i },
  { name: "blank.docx", told: /no text|empty|nothing/i },
];
