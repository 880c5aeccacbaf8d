import { formatCount } from "../format/index.ts";

interface Props {
  count: number;
  /** What the rows are: "run". */
  what: string;
  /** Where counting ends. */
  most?: number;
  onShow(): void;
}

/** Rows stay in place: new ones only raise the count on a button. */
export const NewRows = ({ count, what, most, onShow }: Props) => (
  <div role="status">
    {count > 0 && (
      <button type="button" className="button new" onClick={onShow}>
        Show {most === undefined || count < most ? formatCount(count, `new ${what}`) : `${most}+ new ${what}s`}
      </button>
    )}
  </div>
);
