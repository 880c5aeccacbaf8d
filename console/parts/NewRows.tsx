import { formatCount } from "../format/index.ts";

interface Props {
  count: number;
  /** The noun for a row: "run". */
  what: string;
  /** Maximum count. */
  most?: number;
  onShow(): void;
}

/** Shows a button with the number of new rows. Existing rows stay in place. */
export const NewRows = ({ count, what, most, onShow }: Props) => (
  <div role="status">
    {count > 0 && (
      <button type="button" className="button new" onClick={onShow}>
        Show {most === undefined || count < most ? formatCount(count, `new ${what}`) : `${most}+ new ${what}s`}
      </button>
    )}
  </div>
);
