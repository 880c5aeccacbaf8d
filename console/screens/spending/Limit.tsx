import { isRate, WARNED_PERCENT, type BudgetLimit } from "../../api/spending.ts";
import { formatCost, formatNumber } from "../../format/index.ts";
import { LIMIT_WORDS } from "../../format/limitWords.ts";
import { Bar } from "../../parts/Bar.tsx";
import { Time } from "../../parts/Time.tsx";

const toneOf = ({ percent }: BudgetLimit): string =>
  percent >= 100 ? "over" : percent >= WARNED_PERCENT ? "near" : "model";

/** The name without its period. */
const unitOf = ({ name }: BudgetLimit): string => LIMIT_WORDS[name].split(" ")[0]!;
const isMoney = ({ name }: BudgetLimit) => name.startsWith("cost");
const show = (limit: BudgetLimit, amount: string): string =>
  isMoney(limit) ? formatCost(amount) : formatNumber(Number(amount));

/** The rest of a limit. The last request may have exceeded the limit. */
function Left({ limit }: { limit: BudgetLimit }) {
  if (isRate(limit))
    return <>{limit.percent >= 100 ? "full at this moment" : `${formatNumber(Number(limit.left))} free now`}</>;
  return (
    <>
      {limit.percent >= 100 ? (
        <strong className="bad-text">used up</strong>
      ) : (
        `${show(limit, limit.left)}${isMoney(limit) ? "" : ` ${unitOf(limit)}`} left`
      )}
      {limit.reserved !== undefined && Number(limit.reserved) > 0 && (
        <>, {show(limit, limit.reserved)} held back for requests under way</>
      )}
      {limit.ends_at && (
        <>
          , again <Time at={limit.ends_at} />
        </>
      )}
    </>
  );
}

/** The used share of a limit, and the rest. */
export function Limit({ limit }: { limit: BudgetLimit }) {
  return (
    <div className="limit">
      <span>
        <strong>{show(limit, limit.spent)}</strong> of {show(limit, limit.limit)} {LIMIT_WORDS[limit.name]} (
        {formatNumber(limit.percent)} %)
      </span>
      <Bar within={{ from: 0, to: 100 }} start={0} end={Math.min(100, limit.percent)} tone={toneOf(limit)} />
      <span className="quiet">
        <Left limit={limit} />
      </span>
    </div>
  );
}
