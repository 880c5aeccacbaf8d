/* The types of file that have a reader, by the names that answers give them, and the endings that stand for them. */

const OPEN_XML = "application/vnd.openxmlformats-officedocument";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument";

export const types = {
  pdf: "application/pdf",
  docx: `${OPEN_XML}.wordprocessingml.document`,
  doc: "application/msword",
  pptx: `${OPEN_XML}.presentationml.presentation`,
  xlsx: `${OPEN_XML}.spreadsheetml.sheet`,
  xls: "application/vnd.ms-excel",
  odt: `${OPEN_DOCUMENT}.text`,
  odp: `${OPEN_DOCUMENT}.presentation`,
  ods: `${OPEN_DOCUMENT}.spreadsheet`,
  rtf: "application/rtf",
  epub: "application/epub+zip",
  html: "text/html",
  eml: "message/rfc822",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  md: "text/markdown",
  txt: "text/plain",
  json: "application/json",
  xml: "application/xml",
} as const;

export type ReadableType = (typeof types)[keyof typeof types];

/** Other endings of the same types. */
const endings: Record<string, ReadableType> = {
  ...types,
  docm: types.docx,
  dotx: types.docx,
  pptm: types.pptx,
  ppsx: types.pptx,
  potx: types.pptx,
  xlsm: types.xlsx,
  xltx: types.xlsx,
  htm: types.html,
  xhtml: types.html,
  markdown: types.md,
  text: types.txt,
  log: types.txt,
};

/** Other names of the same types: as clients declare them and as a look at the bytes calls them. */
const aliases: Record<string, ReadableType> = {
  "application/vnd.ms-word.document.macroenabled.12": types.docx,
  [`${OPEN_XML}.wordprocessingml.template`]: types.docx,
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": types.pptx,
  "application/vnd.ms-powerpoint.slideshow.macroenabled.12": types.pptx,
  [`${OPEN_XML}.presentationml.slideshow`]: types.pptx,
  [`${OPEN_XML}.presentationml.template`]: types.pptx,
  "application/vnd.ms-excel.sheet.macroenabled.12": types.xlsx,
  [`${OPEN_XML}.spreadsheetml.template`]: types.xlsx,
  "application/x-pdf": types.pdf,
  "application/x-rtf": types.rtf,
  "text/rtf": types.rtf,
  "application/xhtml+xml": types.html,
  "application/csv": types.csv,
  "text/x-markdown": types.md,
  "text/json": types.json,
  "text/xml": types.xml,
};

const readable: ReadonlySet<string> = new Set(Object.values(types));

/** The type's usual name: lower case, without parameters, aliases resolved. */
export const usualType = (type: string): string => {
  const bare = type.split(";")[0]!.trim().toLowerCase();
  return Object.hasOwn(aliases, bare) ? aliases[bare]! : bare;
};

/** The type that a file's ending stands for, where there is a reader for it. */
export const typeOfExtension = (name: string): ReadableType | undefined => {
  const ending = /\.([a-z\d]+)$/i.exec(name)?.[1]?.toLowerCase();
  return ending !== undefined && Object.hasOwn(endings, ending) ? endings[ending] : undefined;
};

export const hasReader = (type: string): boolean => readable.has(usualType(type));

/** Whether its Markdown comes in pages (spec, document: `page_count` is present for PDF and PowerPoint). */
export const hasPages = (type: string): boolean => {
  const usual = usualType(type);
  return usual === types.pdf || usual === types.pptx;
};
