/** A name without spaces, or an address or path that may have some. */
const FILE_NAME = /^(?:fig: ?)?(?:\S+|(?:[\w+.-]+:|\.{0,2}[\\/]).*)\.\w{3,4}$/;

/** Whether a picture's description is the name of its file, as programs fill it in: it tells nothing, or where somebody keeps files. */
export const isFileName = (description: string): boolean => FILE_NAME.test(description.trim());
