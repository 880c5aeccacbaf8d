/* The media types that the service can read, under the names it reports, with their file extensions and aliases. */

const OPEN_XML = "application/vnd.openxmlformats-officedocument";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument";

export const MEDIA_TYPES = {
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
  msg: "application/vnd.ms-outlook",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  md: "text/markdown",
  txt: "text/plain",
  json: "application/json",
  xml: "application/xml",
  png: "image/png",
  jpg: "image/jpeg",
  tiff: "image/tiff",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
} as const;

export type ReadableType = (typeof MEDIA_TYPES)[keyof typeof MEDIA_TYPES];

/** Files whose text can only be recognized (OCR). */
const PICTURES: ReadonlySet<string> = new Set(
  (["png", "jpg", "tiff", "webp", "gif", "heic"] as const).map((name) => MEDIA_TYPES[name]),
);

export type PictureType = (typeof MEDIA_TYPES)["png" | "jpg" | "tiff" | "webp" | "gif" | "heic"];

/** File extensions, the keys of MEDIA_TYPES included. */
const TYPES_BY_EXTENSION: Record<string, ReadableType> = {
  ...MEDIA_TYPES,
  docm: MEDIA_TYPES.docx,
  dotx: MEDIA_TYPES.docx,
  pptm: MEDIA_TYPES.pptx,
  ppsx: MEDIA_TYPES.pptx,
  potx: MEDIA_TYPES.pptx,
  xlsm: MEDIA_TYPES.xlsx,
  xltx: MEDIA_TYPES.xlsx,
  htm: MEDIA_TYPES.html,
  xhtml: MEDIA_TYPES.html,
  markdown: MEDIA_TYPES.md,
  text: MEDIA_TYPES.txt,
  log: MEDIA_TYPES.txt,
  jpeg: MEDIA_TYPES.jpg,
  tif: MEDIA_TYPES.tiff,
  heif: MEDIA_TYPES.heic,
};

/** Other names that clients and the detection of types use. */
const ALIASES: Record<string, ReadableType> = {
  "application/vnd.ms-word.document.macroenabled.12": MEDIA_TYPES.docx,
  [`${OPEN_XML}.wordprocessingml.template`]: MEDIA_TYPES.docx,
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": MEDIA_TYPES.pptx,
  "application/vnd.ms-powerpoint.slideshow.macroenabled.12": MEDIA_TYPES.pptx,
  [`${OPEN_XML}.presentationml.slideshow`]: MEDIA_TYPES.pptx,
  [`${OPEN_XML}.presentationml.template`]: MEDIA_TYPES.pptx,
  "application/vnd.ms-excel.sheet.macroenabled.12": MEDIA_TYPES.xlsx,
  [`${OPEN_XML}.spreadsheetml.template`]: MEDIA_TYPES.xlsx,
  "application/x-pdf": MEDIA_TYPES.pdf,
  "application/x-rtf": MEDIA_TYPES.rtf,
  "text/rtf": MEDIA_TYPES.rtf,
  "application/xhtml+xml": MEDIA_TYPES.html,
  "application/csv": MEDIA_TYPES.csv,
  "text/x-markdown": MEDIA_TYPES.md,
  "text/json": MEDIA_TYPES.json,
  "text/xml": MEDIA_TYPES.xml,
  "image/jpg": MEDIA_TYPES.jpg,
  "image/pjpeg": MEDIA_TYPES.jpg,
  "image/tif": MEDIA_TYPES.tiff,
  "image/heif": MEDIA_TYPES.heic,
};

const READABLE_TYPES: ReadonlySet<string> = new Set(Object.values(MEDIA_TYPES));

/** The name under which the service reports a type: lower case, without parameters, aliases resolved. */
export const canonicalType = (type: string): string => {
  const bare = type.split(";")[0]!.trim().toLowerCase();
  return Object.hasOwn(ALIASES, bare) ? ALIASES[bare]! : bare;
};

/** The type for the extension of a file name; undefined if the service cannot read it. */
export const typeFromFileName = (name: string): ReadableType | undefined => {
  const extension = /\.([a-z\d]+)$/i.exec(name)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(TYPES_BY_EXTENSION, extension)
    ? TYPES_BY_EXTENSION[extension]
    : undefined;
};

export const isPicture = (type: string): boolean => PICTURES.has(canonicalType(type));

/** `pictures`: whether pictures count, because their text is recognized. */
export const hasReader = (type: string, pictures: boolean): boolean =>
  READABLE_TYPES.has(canonicalType(type)) && (pictures || !isPicture(type));

/** Whether its Markdown has pages (spec, document: `page_count` is present for PDF and PowerPoint only). */
export const hasPages = (type: string): boolean => {
  const canonical = canonicalType(type);
  return canonical === MEDIA_TYPES.pdf || canonical === MEDIA_TYPES.pptx;
};
