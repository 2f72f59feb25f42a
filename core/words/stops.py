"""Words that carry no content of their own, by primary language, question words included. Spelled plainly, folded on use.

They serve three ends: left out of what is searched for, counted to guess a language, and, where nothing else is left
of a question, a sign that it is not about a book. CJK entries are strings looked for inside a run of characters.
"""

_EN = """a about above after again against all also although am among an and any are aren as at be because been before
being below between both but by came can cannot could couldn did didn do does doesn doing don done down during each either
else ever every feel feels feeling felt few for from further get go goes going got had hadn happen happened happening happens has hasn have haven having he
her here hers herself him himself his how however i if in into is isn it its itself just let ll made make makes many may me might more most
much must mustn my myself neither no nor not now of off on once one only or other ought our ours ourselves out over
own please quite rather re s said say same shall shan she should shouldn since so some something such t tell than that the
their theirs them themselves then there these they this those though through thus to too under until up upon us ve
very was wasn we were weren what whatever when whence where wherein which while whither who whoever whom whose why will with within without won
would wouldn yet you your yours yourself yourselves"""

_ES = """a acerca ahi ahora al algo alguien algun alguna algunas alguno algunos alli ambos ante antes aquel aquella
aquellas aquello aquellos aqui asi aun aunque bajo bien cada casi como con contra cual cuales cualquier cuando cuanta
cuantas cuanto cuantos cuya cuyas cuyo cuyos de debe del desde dice dijo donde dos durante el ella ellas ello ellos en entonces
entre era eran eras eres es esa esas ese eso esos esta estaba estaban estado estan estar estas este esto estos estuvo fue
fuera fueron fui ha habia habian hace hacer hacia han hasta hay haya he hecho hemos hizo hubo incluso ir jamas la las le les lo los mas me
mediante mi mia mias mientras mio mios mis misma mismas mismo mismos mucha muchas mucho muchos muy nada ni ningun ninguna
no nos nosotras nosotros nuestra nuestras nuestro nuestros nunca os otra otras otro otros para pero poco por porque
pues que quien quienes se sea sean segun ser seran si sido siempre sin sino sobre sois solo somos son soy su sus suya
suyas suyo suyos tal tambien tampoco tan tanto te tendra tener tenia tiene tienen toda todas todo todos tras tu tus
tuvo u un una unas uno unos usted ustedes va van vosotras vosotros y ya yo"""

_PT = """a acerca ai ainda alem algo alguem algum alguma algumas alguns ali ambos ante antes ao aos apenas apos aquela
aquelas aquele aqueles aquilo aqui as assim ate atraves cada como com contra cuja cujas cujo cujos da daquela daquele
das de dela delas dele deles desde dessa desse desta deste devido disse diz do dois dos durante e ela elas ele eles em embora
enquanto entao entre era eram essa essas esse esses esta estao estar estas estava estavam este esteve estes estou eu faz
fazer fez foi foram fosse ha havia isso isto ja la lhe lhes lo mais mas me meio menos mesma mesmo meu meus minha minhas
muita muitas muito muitos na nada nao nas nem nenhum nenhuma nessa nesse nesta neste no nos nossa nossas nosso nossos
num numa nunca o onde os ou outra outras outro outros para pela pelas pelo pelos pode por porem porque pois pouco pra
qual quais qualquer quando quanta quantas quanto quantos que quem sao se sem sempre sendo ser sera seu seus si sido so
sobre sua suas tal tambem tanto tao te tem tendo tenha ter teu teve tinha tive toda todas todo todos tu tua tudo um uma
umas uns vai vem voce voces vos"""

_FR = """a afin ai ainsi alors apres as au aucun aucune aujourd aupres aussi autre autres aux avait avaient avant avec
avez avoir avons c ca car ce ceci cela celle celles celui cependant ces cet cette ceux chaque chez ci combien comme
comment contre d dans de depuis des dessous dessus deux dit doit donc dont du durant elle elles en encore entre es est et etaient
etait etant ete etes etre eu eux fait faire fait fut furent hors hui il ils j jamais je jusqu jusque l la laquelle le
lequel les lesquels leur leurs lors lorsque lui m ma mais malgre me meme memes mes mien moi moins mon n ne ni non nos notre
nous on ont or ou par parce parmi pas pendant personne peu peut plus pour pourquoi pres puis puisque qu quand que quel quelle quelles
quels quelque quelques qui quoi s sa sans se selon sera serait ses si sien soi soit son sont sous suis sur t ta tandis
te tel telle tes toi ton toujours tous tout toute toutes tres tu un une uns vers voici voila vos votre vous y"""

_DE = """ab aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus ausser bei beim bereits
bevor bin bis bist bzw da dabei dadurch dafur dagegen daher damals damit danach daran darauf darin daruber darum das
dass dasselbe davon dazu dein deine dem den denen denn dennoch der deren des deshalb dessen dich die dies diese dieselbe
diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige einigen einmal er es etwa
etwas euch euer eure fur gab ganz gar gegen geht gehabt gewesen geworden gibt hab habe haben hat hatte hatten hattest her hier
hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jene
jetzt kann kein keine keinem keinen keiner konnen konnte konnten machen macht mal man manche mehr mein meine meinem meinen
meiner mich mir mit muss mussen musste nach nachdem nein nicht nichts nie noch nun nur ob obwohl oder ohne sagt sagte schon sehr
sein seine seinem seinen seiner seines seit selbst sich sie sind so sobald solche sollen sollte sondern sonst soweit
tut uber um und uns unser unsere unter viel viele vielen vom von vor wahrend wann war waren ward warum was weder wegen weil welche
welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel will wir wird wo
wobei wodurch wofur woher wohin wollen wollte womit woran worauf woraus worin worden wovon wozu wurde wurden zu zum zur
zwar zwischen"""

_IT = """a abbia ad agli ai al alcun alcuna alcune alcuni alla alle allo allora altra altre altri altro anche ancora
aveva avevano avere bene c che chi ci cio coi col come con contro cosa cosi cui d da dagli dai dal dalla dalle dallo
davanti degli dei del dell della delle dello dentro detto di disse dopo dove dovuto due dunque e ebbe ecco ed egli era erano essa
esse essere essi esso fa fare fatto fino forse fra fu fuori furono gia gli ha hai hanno ho i il in infatti insieme
invece io l la le lei li lo loro lui ma mai me meno mentre mi mia mie miei mio molta molte molti molto ne negli nei nel
nella nelle nello nessun nessuna nessuno niente no noi non nostra nostre nostri nostro nulla o ogni oltre ora ove per
perche pero piu poco poi proprio pure qua qual quale quali qualche qualcosa qualcuno quando quanta quante quanti quanto
quasi quel quella quelle quelli quello questa queste questi questo qui quindi sara sarebbe se sei sempre senza si sia
siamo sono sopra sotto sta stata state stati stato stesso su sua sue sugli sui sul sulla sulle suo suoi tale tanto te ti
tra tu tua tuo tutta tutte tutti tutto un una uno va verso vi voi vostra vostro"""

_NL = """aan achter af al alle alleen alles als altijd ander andere anderen ben bent bij daar daarna daarom dan dat de
deed den der deze die dit doch doen door dus echter een eens eerst elk elke en enkele er ergens geen geweest had hadden heb
hebben heeft hem hen het hier hij hoe hoeveel hun iemand iets ik in is ja je jij jou jouw jullie kan kon konden kunnen
maar mag me meer men met mij mijn moest moet na naar nadat niemand niet niets nog nooit nu of om omdat onder ons onze
ook op over reeds sinds sommige te tegen ten ter terwijl toch toen tot tussen uit uw van vanaf veel voor waar waarbij
waardoor waarin waarmee waarom waaruit waarvan wanneer want waren was wat we weer wel welk welke werd werden wie wiens
wij wil worden wordt zal ze zei zeer zelf zich zij zijn zo zoals zonder zou zouden"""

_SV = """alla allt att av blev bli blir bland da de dem den denna deras dess dessa det detta dig din dina ditt du dar
efter ej eller en er ett fran for ha hade han hans har henne hennes hon honom hur har i icke ingen inom inte jag ju
kan kunde man med mellan men mig min mina mitt mot mycket nagon nagot nagra nar ni nu och om oss pa sa sadan sedan sig
sin sina sitt skall ska skulle som till under upp ut utan vad var vara varfor varit vart vem vi vid vilka vilken vilket
ar at over"""

_PL = """a aby ale albo ani bardzo bez bo by byc byl byla bylo byly byli był była było były ci cie co czy dla do dlaczego
gdy gdzie go i ich ile im ja jak jaki jaka jakie jako je jednak jego jej jest jestem jeszcze juz kiedy kto ktora ktore
ktory ku lub ma mi mnie moze na nad nam nas nic nie nim niz o od oraz po pod poniewaz przed przez przy sa sie skad swoj
ta tak tam te tego tej ten to tu ty tylko w we wiec wszystko wtedy z za ze zeby"""

_RU = """а без более будет будто буду будут бы был была были было быть в вам вас ведь весь во вот все всего всегда всей
всем всех всю вы где говорит да даже два для до его ее ей ему если есть еще ж же за зачем здесь и из или им иногда их к каждый как
какая какие каким каких какого каков какова каковы какое какой какому какую кем когда кого ком кому которая которого которое которой
котором которую которые который которым которых кто куда ли либо лишь между меня мне много мной могут может можно мои
мой моя мы на над надо наконец нас наш не него нее ней нельзя нем нет неё ни нибудь никогда ним них ничего но ну о об
один одна однако одно он она они оно опять от отчего откуда очень перед по под пока после потом потому почему почти при про раз
разве с сам сама сами само свое своего своей свои своих свой свою себе себя сейчас сказал со совсем сколько так такая такие также
такого такое такой там тебе тебя тем теперь то тобой тогда того тоже той только том тот тут ты у уж уже хоть хотя чего
чей чем чему через что чтоб чтобы чуть чье чья эта эти этим этих это этого этой этом этот эту я является"""

_UK = """а або але без був була були було бути в вам вас вже ви від він вона вони воно все всі всіх для до де його є з за
і із й їй їм її їх коли кого кому котрий куди ми на навіть нас не нам ні ніж о об по під при про та так також такий там
те ти то тобто тому той тільки у хто це цей ця ці чи чого чому що щоб як яка який яких які якщо я""".replace("'", "")

_AR = """في من الى على عن مع ان او ثم لا لم لن ما ماذا متى اين كيف كم لماذا هل من اي اية ايه منذ حتى اذا لو قد كل بعض غير
كان كانت كانوا يكون تكون ليس ليست هو هي هم هن هما انا نحن انت انتم هذا هذه هولاء ذلك تلك اوليك هنا هناك الذي التي الذين اللذان
اللتان اللواتي اللاتي بين بعد قبل عند عندما حين حيث خلال لان لكن لقد فقد كما مثل دون سوي الا اما بل به بها بهم فيه فيها
فيهم منه منها منهم عليه عليها عليهم اليه اليها اليهم له لها لهم لي لنا لك عنه عنها وهو وهي وهم وقد وكان وكانت ولم ولا
وما ومن وفي وعلي والتي والذي ايضا جدا كذلك التى الي و ف ب ل ك يا مما عما بما كما مع ذات اكثر احد احدي"""

_ZH = """什么 甚么 哪些 哪个 哪里 哪儿 哪一 哪 谁 多少 几个 为什么 为何 怎么 怎样 怎么样 如何 何时 何地 何处 是否 什麼 甚麼 哪裡 誰 為什麼 為何 怎麼 何時
的 了 是 在 和 与 與 或 也 都 就 而 及 着 过 吗 呢 吧 啊 嗎 被 把 从 從 对 對 为 為 以 于 於 之 其 这 那 這 個 个 有 他 她 它 们 們 我 你 一个 一個 哪位 请问 请 關於 关于"""

_JA = """何 誰 どこ いつ なぜ どう どの どんな どれ どちら いくつ いくら どのように どうして なに なん だれ
は が を に の で と も へ や か から まで より です ます でした ました ですか ますか した して する される された いる ある いた あった この その あの これ それ あれ こと もの ため という"""

_KO = """무엇 누구 언제 어디 어떻게 왜 어떤 어느 몇 무슨 얼마나 그 이 저 것 그리고 그러나 하지만 는 은 이 가 을 를 에 의 와 과 도 로 으로 에서 입니까 입니다 합니다 했습니까 있는 하는"""

SPELLED: dict[str, str] = {
    "en": _EN,
    "es": _ES,
    "pt": _PT,
    "fr": _FR,
    "de": _DE,
    "it": _IT,
    "nl": _NL,
    "sv": _SV,
    "pl": _PL,
    "ru": _RU,
    "uk": _UK,
    "ar": _AR,
    "zh": _ZH,
    "ja": _JA,
    "ko": _KO,
}
