export { unreadEdits } from './kept.ts'
export { ownViews, readEdits, refreshViews, VIEWS } from './refresh.ts'
