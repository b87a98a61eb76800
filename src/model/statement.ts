const STATES =
  /(?:\b(?:is|are|was|equals|returns|takes|accepts|holds)\b|[=:]) ?(?:\w{1,20} )?(?:["'`\d-]|true\b|false\b|null\b)/i
const ORDERS =
  /\b(?:always|never|must|should|shall|do not|don['’]t|only|use|avoid|prefer|keep|run|write|no|not|ask|needs?|required?|forbidden|frozen|allowed|(?:is|are|has|have) to)\b/i

/** Whether a text says which value something has, and orders nothing. */
export const isStatement = (text: string): boolean => STATES.test(text) && !ORDERS.test(text)
