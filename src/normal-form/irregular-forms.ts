import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";
import { STEMMERS } from "./stemmers.ts";

/**
 * Words whose forms have more than one stem, each stem by one form: the closed classes of irregular
 * and strong verbs, and of nouns that change within, without rare words. At the end of each, titles
 * and others that are abbreviated, without accents.
 */
const WORDS: Partial<Record<Exclude<Language, "en">, string>> = {
  de: `museum museen|datum daten|zentrum zentren|stadion stadien|studium studien|gymnasium gymnasien
    |ministerium ministerien|aquarium aquarien|stipendium stipendien|kriterium kriterien|medium medien
    |jubiläum jubiläen|visum visa visen|album alben|thema themen|firma firmen|konto konten|villa villen
    |virus viren|drama dramen|risiko risiken|pizza pizzen|lexikon lexika|praktikum praktika
    |rhythmus rhythmen|organismus organismen|mechanismus mechanismen|kaktus kakteen|basis basen|fresko fresken
    |bau bauten|saal säle|atlas atlanten
    |doktor dr|professor prof|sankt st|strasse str|nummer nr`,
  es: `abrir abierto|acostar acuesta|almorzar almuerza|andar anduvo|caer caigo cayó|cerrar cierra
    |colgar cuelga|comenzar comienza|conducir conduzco condujo|conocer conozco|construir construye
    |contar cuenta|corregir corrige|costar cuesta|crecer crezco|creer creyó|cubrir cubierto|dar dio
    |decir dice dijo digo dicho dirá|despertar despierta|devolver devuelve devuelto
    |divertir divierte|doler duele|dormir duerme durmió|elegir elige|empezar empieza
    |encender enciende|encontrar encuentra|entender entiende|escribir escrito|freír fríe frito
    |hacer hace hizo hago hecho hará|herir hiere|huir huye|ir va voy vamos fue fueron fuimos iba
    |jugar juega|leer leyó|llover llueve|medir mide|mentir miente|morder muerde|morir muere murió muerto
    |mostrar muestra|mover mueve|nacer nazco|negar niega|nevar nieva|oír oye oigo|oler huele
    |pedir pide|pensar piensa|perder pierde|poder puede pudo podrá|poner pongo puso puesto pondrá
    |preferir prefiere|probar prueba|querer quiere quiso|recordar recuerda|reír ríe|repetir repite
    |resolver resuelve resuelto|rodar rueda|romper roto|saber supo sabrá|salir salgo saldrá
    |seguir sigue|sembrar siembra|sentar sienta|sentir siente sintió|servir sirve|soñar sueña
    |tener tiene tuvo tengo tendrá|traer traigo trajo|tropezar tropieza|venir viene vengo vinieron
    |ver veo visto|vestir viste|volar vuela|volver vuelve vuelto
    |dar dale dame dámelo|decir dime dile|hacer hazlo haz|poner ponlo ponte pon|ir vete vámonos|lavar lávate
    |advertir advierte|apretar aprieta|atravesar atraviesa|calentar calienta|confesar confiesa|convertir convierte
    |demostrar demuestra|desaparecer desaparezco|destruir destruye|enterrar entierra|esforzar esfuerza
    |forzar fuerza|fregar friega|gobernar gobierna|helar hiela|hervir hierve|invertir invierte|ofrecer ofrezco
    |parecer parezco|producir produzco produjo|regar riega|reducir redujo|rogar ruega|soltar suelta|tostar tuesta
    |traducir traduzco tradujo|tronar truena|caber cupo quepo|andar anduve|bendecir bendijo|morir muerto
    |freír fríen|pudrir podrido|imprimir impreso|proteger protejo|coger cojo|recoger recojo|dirigir dirijo
    |doctor dr|doctora dra|profesor prof|senor sr|senora sra|senorita srta|avenida avda|avenida av
    |numero num`,
  fr: `oeil yeux|ciel cieux|travail travaux|monsieur messieurs|madame mesdames|acheter achète
    |appeler appelle|jeter jette|lever lève|geler gèle|espérer espère|préférer préfère|envoyer envoie
    |essayer essaie|nettoyer nettoie|payer paie|employer emploie|battre bat|peindre peint peignent
    |éteindre éteint éteignent|rejoindre rejoint rejoignent|craindre craint|attendre attend
    |descendre descend|entendre entend|rendre rend|répondre répond|plaire plaît|pleuvoir pleut
    |vaincre vaincu|fuir fuit fuient|cuire cuit cuisent|vieux vieille vieil|beau belle bel|nouveau nouvelle nouvel
    |blanc blanche|sec sèche|doux douce|fou folle|frais fraîche|roux rousse|faux fausse|détruire détruit détruisent
    |pleuvoir plu pleut|peindre peignait|craindre craignait|plaindre plaint plaignait|joindre joint joignait
    |falloir faut fallu|valoir vaut valu|asseoir assis assied|coudre cousu|résoudre résolu|battre battu
    |rompre rompu|mordre mordu mord|tordre tordu|fondre fondu fond|pondre pondu|tondre tondu|perdre perdu
    |acquérir acquis|cuire cuisait|nuire nuit|suffire suffit|bouillir bout|vêtir vêtu|mentir ment|haïr hait
    |clé clef|oeil yeux|ail aulx|bijou bijoux|cheveu cheveux|manger mangé|nager nageait
    |docteur dr|professeur prof|saint st|sainte ste|madame mme|mademoiselle mlle|boulevard bd`,
  it: `andare va vado vanno|aprire aperto|bere beve bevuto|cadere cadde|chiedere chiesto
    |chiudere chiuso|cogliere colto|conoscere conobbe conosciuto|correre corso|crescere cresciuto
    |cuocere cotto|dare diede|decidere deciso|difendere difeso|dipingere dipinto
    |dire dice detto disse dimmi dimmelo|dare dammi dammelo|fare fammi|dovere deve|fare fa faccio fatto fece fanno|giungere giunto
    |leggere lesse letto|mettere messo mise|morire muore morto|muovere mosso|nascere nato nacque
    |nascondere nascosto|offrire offerto|perdere perso|piangere pianto|potere può possono posso
    |prendere preso|raccogliere raccolto|rimanere rimasto rimane|rispondere risposto|rompere rotto ruppe
    |salire salgo|sapere sanno|scegliere scelto|scendere sceso|scrivere scritto scrisse
    |sedere siede|spegnere spento|spendere speso|spingere spinto|tenere tiene tengo|togliere tolto
    |uccidere ucciso|uscire esce esco|vedere visto vide|venire viene vengo venne|vincere vinto
    |vivere vissuto visse|volere vuole voglio|uomo uomini|bue buoi|dio dei
    |accendere acceso accese|accorgere accorto|appendere appeso|assumere assunto|bello bel begli bellissimo
    |buono buon ottimo|comprimere compresso|concedere concesso|correggere corretto|costruire costruisce
    |cuocere cuoce|dirigere diretto|discutere discusso|distruggere distrutto|dividere diviso|eleggere eletto
    |emergere emerso|esplodere esploso|fingere finto|friggere fritto|immergere immerso|invadere invaso
    |nuocere nociuto|parere paiono|percorrere percorso|permettere permesso|porre posto pone|produrre prodotto
    |proteggere protetto|pungere punto|radere raso|reggere retto|ridere riso rise|ridurre ridotto|risolvere risolto
    |sciogliere sciolto|scoprire scoperto|soffrire sofferto|sorgere sorto|spargere sparso|stringere stretto
    |succedere successo|tacere taciuto|tendere teso|tingere tinto|tradurre tradotto|trarre tratto|valere vale valso
    |volgere volto|uovo uova|dito dita|braccio braccia|ginocchio ginocchia|osso ossa|labbro labbra|ciglio ciglia
    |lenzuolo lenzuola|muro mura|paio paia|ala ali|tempio templi|mille mila
    |dottor dott|dottore dott|dottor dr|professor prof|professore prof|signor sig|avvocato avv`,
  pt: `abrir aberto|cair caiu|cobrir coberto|construir constrói|crer crê|dar deu|dizer diz disse dito digo
    |dormir durmo|escrever escrito|fazer faz fez fiz feito faço|fugir foge|ganhar ganho
    |haver houve|ir vai vou vamos foi foram fomos|ler lê leu leio|morrer morto|ouvir ouço|pedir peço|perder perco
    |poder pude posso|pôr põe ponho posto pôs|querer quis|rir ri riu|saber soube|sair saiu saio|seguir sigo
    |sentir sinto|servir sirvo|subir sobe|ter tinha teve tenho tem|trazer traz trouxe trago|ver vê viu vejo
    |vestir visto|vir vem venho veio|avô avós
    |ir irei irá ia|vir veio vieram|ter tenha tiver|fazer fará fiz|dizer dirá|trazer trará|pôr puseram punha
    |ver viram visto|dar deram dê|estar esteve estava|poder pôde podem|querer quer queria|perder perde
    |sorrir sorri|dormir dorme|vestir veste|servir serve|sentir sente|pedir pede|ouvir ouve|subir sobe|fugir fogem
    |destruir destrói|ferir fere|mentir mente|repetir repete|preferir prefere|ganho ganhar|gastar gasto|pagar pago
    |abrir abre|morrer morre|bom boa|mau má|grande maior|pequeno menor|pão pães|cão cães|mão mãos|irmão irmãos
    |doutor dr|doutora dra|professor prof|senhor sr|senhora sra|avenida av`,
  nl: `kind kinderen|ei eieren|schip schepen|stad steden|lid leden|koe koeien|rund runderen
    |lam lammeren|kalf kalveren|blad bladeren|volk volkeren|smid smeden|gat gaten|dag dagen|weg wegen
    |glas glazen|dak daken|bad baden|spel spelen|god goden|oorlog oorlogen|gebed gebeden
    |dier dieren|huis huizen|schoen schoenen|hemd hemden|kleed kleren|been benen|lied liederen|ei eitje
    |bidden bad gebeden|binden bond gebonden|blazen blies geblazen|buigen boog gebogen|dragen droeg gedragen
    |duiken dook gedoken|fluiten floot gefloten|genezen genas|gieten goot gegoten|glijden gleed gegleden
    |graven groef gegraven|grijpen greep gegrepen|hangen hing gehangen|houden hield gehouden|klimmen klom geklommen
    |klinken klonk geklonken|krijgen kreeg gekregen|kruipen kroop gekropen|laten liet gelaten|lachen lachte gelachen
    |liegen loog gelogen|meten mat gemeten|ruiken rook geroken|schenken schonk|schieten schoot geschoten
    |schijnen scheen|schrikken schrok|schuiven schoof geschoven|sluiten sloot gesloten|smelten smolt gesmolten
    |snijden sneed gesneden|sluipen sloop|steken stak gestoken|stelen stal gestolen|stijgen steeg gestegen
    |strijden streed|treden trad getreden|treffen trof getroffen|varen voer gevaren|vangen ving gevangen
    |vergeten vergat|vriezen vroor gevroren|wassen waste gewassen|wegen woog gewogen|weten wist geweten
    |wijzen wees gewezen|winnen won gewonnen|zenden zond gezonden|zinken zonk gezonken|zuigen zoog gezogen
    |zwerven zwierf|zwijgen zweeg gezwegen|zwemmen zwom gezwommen|hebben heeft had|worden werd geworden|zijn was
    |dokter dr|doctor dr|professor prof|meneer dhr|mevrouw mevr|mevrouw mw|sint st`,
  scandinavian: `be bad bett ba bedt|binda band bundit|bita bet bitit|bjuda bjöd bjudit
    |bli blev blivit ble blitt|brinna brann brunnit|bryta bröt brutit|bära bar burit
    |dra drog dragit dro|dricka drack druckit|dö dog dött|falla föll|finna fann funnit
    |flyga flög flugit|frysa frös frusit|få fick fått fik fikk|försvinna försvann försvunnit
    |ge gav gett|gripa grep gripit|gråta grät|gå gick gått gik gået gikk|göra gjorde gjort
    |hinna hann hunnit|hugga högg|hålla höll|kliva klev klivit|komma kom|krypa kröp krupit
    |le log lett lo|ligga låg legat|ljuga ljög|låta lät|lägga lade lagt|njuta njöt
    |rida red ridit|rinna rann runnit|riva rev rivit|se såg sett så set|simma sam
    |sitta satt suttit|sjunga sjöng sjungit|sjunka sjönk sjunkit|skina sken|skjuta sköt skjutit
    |skriva skrev skrivit|skära skar skurit|slå slog slagit slået slo slått|smyga smög|sova sov
    |springa sprang sprungit|sticka stack stuckit|stiga steg stigit|stjäla stal stulit
    |stå stod stået sto stått|svida sved|säga sade sagt|sälja sålde sålt|sätta satte satt
    |ta tog tagit tok tatt|vinna vann vunnit|växa växte|vrida vred vridit|äta åt ätit
    |bok böcker bøker|fot fötter føtter|hand händer|tand tänder tænder|man män
    |natt nätter netter|stad städer stæder steder|rot rötter røtter|bokstav bokstäver
    |dotter döttrar|mus möss|gås gäss gæs gjess|lus löss|son söner|bonde bönder bønder
    |ledamot ledamöter|land länder|rand ränder rænder|strand stränder strender
    |bror bröder brødre|moder mödrar|fader fäder|öga ögon|öra öron|bede bad bedt|bide bed bidt
    |binde bandt bundet|blive blev|bryde brød brudt|bære bar båret|drage drog
    |drikke drak drukket drakk|dø døde|falde faldt|finde fandt fundet|flyve fløj fløjet
    |fryse frøs frosset|fortælle fortalte|give gav givet|gribe greb grebet|græde græd
    |gøre gjorde gjort|hænge hang|holde holdt|hjælpe hjalp hjulpet|komme kom|krybe krøb|ligge lå
    |lyve løj løy|løbe løb|lade lod|nyde nød|ride red redet|rive rev revet|sidde sad siddet
    |sige sagde sagt|skrige skreg|skrive skrev skrevet|skyde skød skudt|skære skar skåret
    |sove sov|springe sprang sprunget|stige steg steget|stjæle stjal stjålet|synge sang sunget
    |synke sank sunket|sælge solgte|sætte satte|tage tog|træffe traf|vinde vandt vundet
    |vide vidste|æde åd|mand mænd|bog bøger|barn børn|fod fødder|hånd hænder hender|nat nætter
    |datter døtre|far fædre fedre|mor mødre|søster søstre|ko køer|tå tæer tær|øje øjne
    |kraft kræfter krefter|and ænder ender|rod rødder|tang tænger tenger|bite bet bitt
    |bryte brøt brutt|falle falt|finne fant funnet|fly fløy fløyet|fortelle fortalte|gi ga gitt
    |gripe grep grepet|gråte gråt|gjøre gjorde gjort|henge hang|hjelpe hjalp hjulpet|krype krøp
    |løpe løp|la lot|nyte nøt|ri red|sitte satt sittet|si sa sagt|skrike skrek|skyte skjøt skutt
    |skjære skar skåret|stjele stjal stjålet|selge solgte|sette satte|treffe traff
    |vinne vant vunnet|vite visste|ete åt|velge valgte|spørre spurte|mann menn|tann tenner
    |ku kyr|øye øyne|kne knær|tre trær
    |doktor dr|professor prof|sankt st|nummer nr`,
  hu: `ló lovak|hó havak|kő kövek|tó tavak|szó szavak|fű füvek|cső csövek|mű művek|bokor bokrok
    |madár madarak|kéz kezek|út utak|híd hidak|víz vizek|tűz tüzek|nyár nyarak|egér egerek|kenyér kenyerek
    |álom álmok|tükör tükrök|torony tornyok|étterem éttermek|ember emberek|halom halmok|gyerek gyermek
    |megy ment menni mennek|jön jött jönni|eszik evett enni ettem|iszik ivott inni ittam|vesz vett venni|tesz tett tenni
    |visz vitt vinni|hisz hitt hinni|lesz lett lenni|alszik aludt aludni|fekszik feküdt|hoz hozott|lát látott
    |ír írt írni|olvas olvasott|fut futott|játszik játszott|főz főzött|vásárol vásárolt|asztal asztalok
    |nyúl nyulak|kanál kanalak|fonál fonalak|szekér szekerek|tehén tehenek|levél levelek|fedél fedelek|gyökér gyökerek
    |kenyér kenyeret|tél telek|dél|ég egek|jég jegek|fél|úr urak|nyíl nyilak|sár sarak|darázs darazsak|bogár bogarak
    |mocsár mocsarak|sugár sugarak|lúd ludak|rúd rudak|kút kutak|lélek lelkek|férfi férfiak|ló lovat|só sót|fa fák
    |doktor dr|professzor prof|utca u`,
  fi: `käsi käden kädet|vesi veden|lapsi lapset|mies miehet miehen|kuusi kuuset|uusi uuden uudet|yö öiden
    |hevonen hevoset hevosen|nainen naiset naisen|ihminen ihmiset ihmisen|kevät kevään|katu kadut kadun
    |pöytä pöydät pöydän|tähti tähdet tähden|lehti lehdet lehden|joki joet joen|mäki mäet mäen|jalka jalat jalan
    |poika pojat pojan|tyttö tytöt tytön|kukka kukat kukan|pankki pankit pankin|kauppa kaupat kaupan
    |lintu linnut linnun|ranta rannat rannan|ilta illat illan|silta sillat sillan|kulta kullan|sukka sukat
    |leipä leivän leivät|tapa tavat|lupa luvat|syödä syö söi|juoda juo joi|juosta juoksee juoksi
    |nähdä näkee näki|tehdä tekee teki|mennä menee meni|tulla tulee tuli|nukkua nukun nukkui
    |uida ui uin|lukea lukee luen|kirjoittaa kirjoitan|lentää lentävät lennän
    |käsi kätesi käteen kättä käsien|vesi vettä veteen vesien|uusi uutta uuteen|kuusi kuutta|viisi viiden viittä
    |susi suden sutta|hirsi hirren|köysi köyden köyttä|täysi täyden täyttä|varsi varren|tosi toden totta|kausi kauden
    |kuukausi kuukauden kuukautta|reisi reiden|länsi lännen|kansi kannen kantta|lumi lunta lumen|niemi niemen niemeä
    |kieli kielen kieltä|pieni pienen pientä|suuri suuren suurta|nuori nuoren nuorta|meri meren merta|saari saaren
    |veri veren verta|hiiri hiiren hiirtä|sormi sormen|järvi järven|talvi talven|kivi kiven|ovi oven|onni onnen
    |mies miestä miehiä|lapsi lasta lapsia|veitsi veitsen|hammas hampaat hampaan|rikas rikkaat|kuningas kuninkaan
    |taivas taivaan|eläin eläimet eläimen|puhelin puhelimen|ystävä ystävät|tytär tyttären|sisar sisaren|veli veljen veljet
    |lammas lampaat lampaan|vene veneet veneen|huone huoneet|perhe perheet|kone koneet|lyhyt lyhyet|ohut ohuet
    |syödä syövät söivät syönyt|juoda juovat joivat juonut|olla|tehdä tekevät tehnyt|nähdä näkevät nähnyt
    |juosta juoksevat|mennä menevät|tulla tulevat|puhua puhuu puhui|antaa antaa antoi annan|ottaa ottaa otti otan
    |lukea lukevat luki|laulaa laulavat lauloi|tanssia tanssivat|ostaa ostavat osti|myydä myy myi|kävellä kävelee`,
  pl: `pies psy psem|człowiek ludzie|dziecko dzieci|brat bracia|ręka ręce|oko oczy|ucho uszy|tydzień tygodnie
    |dzień dni|rok lata|iść idzie szedł szła|jechać jedzie|jeść je jadł jedzą|widzieć widzi|móc może mógł mogą
    |chcieć chce chcą|wziąć weźmie|pisać pisze|kąpać kąpie|płynąć płynie|spać śpi|siedzieć siedzi|stać stoi
    |brać bierze|dać da dał|mieć ma mają|czytać czyta|kupić kupuje kupować|pić pije|myć myje|grać gra
    |biec biegnie|biegać biega|śmiać śmieje|lecieć leci|książę księża|ksiądz księża
    |iść szli szły idą poszedł poszła|jechać jadą jadę|biec biegną|wiedzieć wie|chcieć chciał|móc mogli
    |nieść niesie niósł|wieść wiedzie|wieźć wiezie|jeść jedli|znaleźć znajdzie znalazł|wyjść wyszedł wyszła
    |przyjść przyszedł przyszła|zacząć zacznie zaczął|wziąć wziął|zdjąć zdejmie|umrzeć umarł|śpiewać śpiewa
    |stać stoją|bać boi|kłaść kładzie|siąść siadł|spaść spadł|rosnąć rośnie rósł|ciąć tnie|żyć żyje|szyć szyje
    |oko oczy oczu oczami|ucho uszy uszu|ręka rękami rąk|noga nóg nogi|głowa głów|krowa krów|szkoła szkół
    |stół stoły stołu|wóz wozy|nóż noże|lód lody lodu|miód miodu|ogród ogrody ogrodu|samochód samochody|kościół kościoły
    |dąb dęby|ząb zęby|mąż mężowie|brzeg brzegi|sen sny|lew lwy|ojciec ojcowie|orzeł orły|koń konie|wąż węże
    |święto świąt|zwierzę zwierzęta|imię imiona|kurczę kurczęta|gwiazda gwieździe|miasto mieście|kwiat kwiecie|las lesie
    |doktor dr|profesor prof|ulica ul|swiety sw`,
  cs: `pes psi psy psem|člověk lidé lidi|dítě děti|oko oči|ucho uši|ruka ruce|den dny dni|kůň koně koni
    |přítel přátelé|dům domy domu|stůl stoly stolu|jít jde šel šla|jet jede jel|jíst jí jedl|vidět vidí|moci může
    |chtít chce|vzít vezme vzal|psát píše psal|spát spí spal|stát stojí stál|brát bere bral|mít má měl
    |hrát hraje hrál|pít pije pil|mýt myje|běžet běží|smát směje|letět letí|číst čte četl|nést nese nesl
    |vést vede vedl|kvést kvete|růst roste rostl|hůl hole|sůl soli|vítr větry větru
    |jít jdou jdu přijít přišel|jet jedou jedu přijel|jíst jedí jedla|vidět viděl|moci mohl mohou|chtít chtěl
    |vzít vzala vezmu|psát píší psala|spát spala|stát stála|brát brala berou|hrát hrála hrají|pít pila pijí
    |mýt myla|běžet běžel|číst čtou četla|nést nesou nesla|vést vedla|růst rostou rostla|péct peče pekl|téct teče
    |lézt leze lezl|krást krade kradl|sedět sedí|ležet leží|držet drží|křičet křičí|mlčet mlčí|umřít umřel zemřel
    |začít začne začal|říct řekl řekne|sníst snědl|dát dá dal|plavat plave|kreslit kreslil|koupit koupil kupovat
    |kniha knih|noha nohou nohy|ruka rukou|hvězda hvězd|matka matek|město měst|okno oken|jablko jablek|máslo
    |kuře kuřata|zvíře zvířata|hříbě hříbata|štěně štěňata|kotě koťata|kůň koně|orel orli|lev lvi|sen sny|den dní
    |týden týdny|hrnec hrnce|otec otcové|syn synové|bratr bratři|strom stromy|les lesy|svět světa|květ květy
    |doktor dr|profesor prof|ulice ul|svaty sv`,
  ro: `om oameni|copil copii|cal cai|frate frați|soră surori|noră nurori|mână mâini|zi zile|floare flori
    |fată fete|masă mese|seară seri|stradă străzi|piatră pietre|poartă porți|școală școli|carte cărți
    |mare mări|vale văi|cheie chei|fi este sunt|merge mers|face făcut|bea băut|mânca mănâncă|vedea văd văzut
    |vrea vor|dormi doarme|juca joacă|putea poate|purta poartă|veni vin|scrie scris|citi citește|ști știe
    |pleca|tren trenuri|băiat băieți|bărbat bărbați
    |fi era a fost|avea are avut|lua ia luat|da dă dat|sta stă stat|bea bea beau|mânca mănâncă mâncat
    |merge merg mers|veni vine venit|pleca pleacă plecat|ajunge ajuns|spune spus|duce dus|aduce adus|pune pus
    |prinde prins|râde râs|plânge plâns|înțelege înțeles|vinde vândut|cumpăra cumpără|cânta cântă|dansa dansează
    |om oameni om|soră surori|nepot nepoți|frunză frunze|pasăre păsări|pădure păduri|țară țări|grădină grădini
    |lună luni|noapte nopți|parte părți|moarte morți|scară scări|seară serile|ușă uși|mamă mame|tată tați|ou ouă
    |râu râuri|lac lacuri|loc locuri|drum drumuri|câmp câmpuri|cuvânt cuvinte|mormânt morminte|vânt vânturi|deget degete
    |doctor dr|profesor prof|domnul dl|doamna dna|strada str`,
  tr: `gitmek gidiyor|etmek ediyor|yemek yiyor|demek diyor
    |gitmek gider gitti|etmek eder etti|yemek yer yedi|demek der dedi|tatmak tadıyor|gütmek güdüyor
    |ağız ağzı|burun burnu|oğul oğlu|şehir şehri|isim ismi|resim resmi|akıl aklı|beyin beyni|boyun boynu
    |göğüs göğsü|alın alnı|karın karnı|vakit vakti|fikir fikri|nehir nehri|omuz omzu|ömür ömrü|sabır sabrı
    |zehir zehri|emir emri|kısım kısmı|metin metni|izin izni|nesil nesli|gönül gönlü|kayıp kaybı|şekil şekli
    |hacim hacmi|cisim cismi|devir devri|kahır kahrı|nakil nakli|su suyu|ağaç ağacı|kitap kitabı|renk rengi
    |doktor dr|profesor prof`,
};

const FORMS = new Map<string, string[]>();

function readForms(): void {
  for (const [language, words] of Object.entries(WORDS)) {
    const stem = STEMMERS[language as Exclude<Language, "en">];
    for (const word of words.split("|")) {
      const forms = word.trim().split(/\s+/);
      for (const form of forms) {
        // Queries may be written without accents.
        for (const own of new Set([fold(stem(form)), fold(stem(fold(form)))])) {
          const key = `${language} ${own}`;
          FORMS.set(key, [...(FORMS.get(key) ?? []), ...forms]);
        }
      }
    }
  }
}

/** Returns a form for each stem of the irregular word that a word may be a form of. */
export function irregularWordForms(word: string, language: Language): readonly string[] {
  if (language === "en" || WORDS[language] === undefined) return [];
  if (FORMS.size === 0) readForms();
  return FORMS.get(`${language} ${fold(STEMMERS[language](word))}`) ?? [];
}
