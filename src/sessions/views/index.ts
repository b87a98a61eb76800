export { ownViews, readEdits, refreshViews, unreadEdits, VIEWS } from './refresh.ts'
