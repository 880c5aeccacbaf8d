import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";

/* Real files, made by office programs (make.sh), and their content. */

export const realFile = (name: string): Buffer<ArrayBuffer> => readFileSync(join(import.meta.dirname, name));

/** A file and what reading it must find. */
export interface Truth {
  name: string;
  mime_type: string;
  /** Null where the type has no pages. */
  page_count: number | null;
  /** Sentences in this order; white space does not count. */
  says: string[];
  headings: string[];
  /** Cells of table rows, from the first column. */
  rows: string[][];
  /** Items of lists. */
  items: string[];
  /** What its text lacks, or where it comes from. */
  warning?: { code: string } & Record<string, unknown>;
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
const READ_FROM_PICTURE = { code: "read_from_picture", pages: [1] };

/** Photographs, whose text is recognized. */
const NOTICE = {
  ...WORDS,
  warning: READ_FROM_PICTURE,
  says: [
    "The pilot boat leaves the north quay at noon, and in fog not before the horn has sounded twice.",
    "jährlich überprüft",
  ],
  rows: [
    ["Vessel", "Fee", "Due"],
    ["Trawler", "120.50", "May 2"],
    ["Ferry", "340.00", "June 9"],
  ],
};
const SCAN = {
  ...WORDS,
  warning: READ_FROM_PICTURE,
  says: ["A keeper carried eleven litres up the 142 steps every evening, in every weather."],
  rows: [["Elspeth Bray", "1891", "1907", "5"]],
};
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
  content: Omit<Truth, "name" | "mime_type" | "page_count">,
  pages?: number,
) => ({
  name,
  mime_type,
  page_count: pages ?? null,
  ...content,
});

/** The rows as text, with a cell that needs quotes. */
const DELIMITED = { ...STOCK, rows: [...STOCK.rows, ["Lens cloth", 'Drawer 2, "clean"', "40", "0.75"]] };

/** Files that end as `ready`. */
export const readable: Truth[] = [
  truth("guide.pdf", MEDIA_TYPES.pdf, GUIDE, 3),
  truth("guide-tagged.pdf", MEDIA_TYPES.pdf, GUIDE, 3),
  truth("restricted.pdf", MEDIA_TYPES.pdf, GUIDE, 3),
  truth("guide.docx", MEDIA_TYPES.docx, GUIDE),
  truth("guide-pandoc.docx", MEDIA_TYPES.docx, GUIDE),
  truth("guide.odt", MEDIA_TYPES.odt, GUIDE),
  truth("guide.rtf", MEDIA_TYPES.rtf, { ...WORDS, says: GUIDE.says }),
  truth("guide.doc", MEDIA_TYPES.doc, { ...WORDS, says: GUIDE.says }),
  truth("guide.epub", MEDIA_TYPES.epub, GUIDE),
  truth("guide.html", MEDIA_TYPES.html, GUIDE),
  truth("guide.md", MEDIA_TYPES.md, GUIDE),
  truth("guide.txt", MEDIA_TYPES.txt, { ...WORDS, says: GUIDE.says }),
  truth("deck.pptx", MEDIA_TYPES.pptx, DECK, 4),
  truth("deck-pandoc.pptx", MEDIA_TYPES.pptx, DECK, 4),
  truth("deck.odp", MEDIA_TYPES.odp, { ...WORDS, says: DECK.says, warning: { code: "images_without_text", count: 1 } }),
  truth("stock.xlsx", MEDIA_TYPES.xlsx, STOCK),
  truth("stock.xls", MEDIA_TYPES.xls, STOCK),
  truth("stock.ods", MEDIA_TYPES.ods, STOCK),
  truth("stock.csv", MEDIA_TYPES.csv, DELIMITED),
  truth("stock.tsv", MEDIA_TYPES.tsv, DELIMITED),
  truth("mail.eml", MEDIA_TYPES.eml, {
    says: ["Spare lamps – counted", "Six lamps came on Tuesday."],
    headings: [],
    rows: [["Spare", "650"]],
    items: [],
    warning: { code: "embedded_files_left_out", count: 1 },
  }),
  truth("mail.msg", MEDIA_TYPES.msg, {
    says: ["Tómas Ó Cuív <tomas@skerrow.example>", "Spare lamps – counted", "Six lamps came on Tuesday."],
    headings: [],
    rows: [["Spare", "650"]],
    items: [],
    warning: { code: "embedded_files_left_out", count: 1 },
  }),
  truth("settings.json", MEDIA_TYPES.json, { ...WORDS, says: ['"period_s": 18', "Tómas Ó Cuív"] }),
  truth("station.xml", MEDIA_TYPES.xml, { ...WORDS, says: ["three flashes"] }),
  truth("scanned.pdf", MEDIA_TYPES.pdf, SCAN, 1),
  truth("notice.png", MEDIA_TYPES.png, NOTICE),
  truth("notice.jpg", MEDIA_TYPES.jpg, NOTICE),
  truth("notice.tiff", MEDIA_TYPES.tiff, NOTICE),
  truth("notice.webp", MEDIA_TYPES.webp, NOTICE),
  truth("notice-fax.tiff", MEDIA_TYPES.tiff, NOTICE),
  truth("notice.gif", MEDIA_TYPES.gif, NOTICE),
  truth("notice.heic", MEDIA_TYPES.heic, NOTICE),
  truth("letter-1252.txt", MEDIA_TYPES.txt, LETTER),
  truth("letter-utf16.txt", MEDIA_TYPES.txt, LETTER),
];

/** Files that end as `failed`, with the message for people. */
export const unreadable: { name: string; message: RegExp }[] = [
  { name: "locked.pdf", message: /password|encrypted|protected/i },
  { name: "locked.docx", message: /password|encrypted|protected/i },
  { name: "locked.odt", message: /password|encrypted|protected/i },
  { name: "locked.xlsx", message: /password|encrypted|protected/i },
  { name: "blank.pdf", message: /no text|empty|nothing|scan/i },
  { name: "blank.docx", message: /no text|empty|nothing/i },
];
